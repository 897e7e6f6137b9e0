"""Bodies as they are read: JSON objects with finite numbers, where null is as good as nothing."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from aiohttp import web

from sayso_bots.api.kinds import Kind, read_object
from sayso_bots.api.problems import ApiProblem, Wrong, invalid, pointer

_T = TypeVar("_T")

_SHORT = 16 * 1024


async def read_body(request: web.Request) -> dict[str, Any]:
    """The JSON object that was sent; its numbers can be kept.

    Raises:
        ApiProblem: it is not one.
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        detail = "send the body as it is, without Content-Encoding"
        raise ApiProblem(415, "UnsupportedMediaType", detail)
    if request.content_type != "application/json":
        detail = "send the header Content-Type: application/json"
        raise ApiProblem(415, "UnsupportedMediaType", detail)
    body = await request.read()
    return await beside(request, lambda: _read(body))


async def beside(request: web.Request, work: Callable[[], _T]) -> _T:
    """What comes of the work on a body; others do not wait for that on a long one."""
    is_long = len(await request.read()) > _SHORT  # the server keeps what it has read
    return await asyncio.to_thread(work) if is_long else work()


def _read(body: bytes) -> dict[str, Any]:
    given = read_object(body)
    check_numbers(given)
    return given


def check_numbers(given: Mapping[str, Any]) -> None:
    """See that all numbers of a body can be kept: ``1e400`` is JSON, yet infinite once read.

    Raises:
        ApiProblem: one cannot.
    """
    if wrong := [Wrong(pointer(*path), "is too large a number") for path in _infinite(given, ())]:
        raise invalid(*wrong)


def without_nulls(
    given: Mapping[str, Any], kind: Kind[Any], filled: Collection[str] = ()
) -> dict[str, Any]:
    """The body without its nulls; only fields that must be there keep them, and are refused.

    ``filled`` are those that the server fills in, so that they need not be there.
    """
    needed = {
        kind.names[name] for name, field in kind.model.model_fields.items() if field.is_required()
    }
    kept = {"type", kind.id_name} | (needed - set(filled))
    return {name: value for name, value in given.items() if value is not None or name in kept}


def _infinite(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _infinite(item, (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _infinite(item, (*path, number))
