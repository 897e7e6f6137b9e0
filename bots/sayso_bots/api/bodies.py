"""Bodies of the hosted API: strict JSON objects, the kinds of event, the fields they have."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aiohttp import web
from pydantic_core import from_json

from sayso.events import Resolution, UserInputRequest, UserInputResponse
from sayso.questions.kinds import kinds as known_kinds
from sayso_bots.api.problems import ApiProblem, Wrong, invalid, pointer
from sayso_bots.strict_json import refuse_duplicates

_Kind = TypeVar("_Kind", bound=UserInputRequest | UserInputResponse)


@dataclass(frozen=True, slots=True)
class Kind(Generic[_Kind]):
    """One kind of event: its ``type``, its model, and which of its fields is its id."""

    type_name: str
    model: type[_Kind]
    names: Mapping[str, str]
    """The names of its fields on the wire, by their names in Python."""
    id_name: str
    """The name of its id on the wire."""


def request_kinds() -> dict[str, Kind[UserInputRequest]]:
    """All kinds of request that are known in this process, by type."""
    return {name: _kind(name, model) for name, model in known_kinds(UserInputRequest).items()}


def response_kinds() -> dict[str, Kind[UserInputResponse]]:
    """All kinds of response that are known in this process, by type."""
    return {name: _kind(name, model) for name, model in known_kinds(UserInputResponse).items()}


def kind_of(given: Mapping[str, Any], kinds: Mapping[str, Kind[_Kind]]) -> Kind[_Kind]:
    """The kind that a body says it is.

    Raises:
        ApiProblem: it does not say one of these kinds.
    """
    name = given.get("type")
    if isinstance(name, str) and name in kinds:
        return kinds[name]
    known = ", ".join(sorted(kinds))
    raise invalid(Wrong("/type", f"must be one of {known}"))


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body.

    Raises:
        ApiProblem: the body is not one.
    """
    try:
        given = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ApiProblem(400, "InvalidJson", f"the body is not JSON: {error}") from None
    try:
        # Read once more, because only Python's reader tells of names that are given twice.
        json.loads(body, object_pairs_hook=refuse_duplicates)
    except ValueError as error:
        raise ApiProblem(400, "InvalidJson", f"the body is no clear JSON: {error}") from None
    if not isinstance(given, dict):
        raise ApiProblem(400, "InvalidJson", "the body is JSON, but not an object")
    return given


def _kind(type_name: str, model: type[_Kind]) -> Kind[_Kind]:
    names = {name: field.alias or name for name, field in model.model_fields.items()}
    # Which field is the id, only the model knows: it answers with whatever that field holds.
    named: dict[str, Any] = {name: name for name in model.model_fields}
    asked: UserInputRequest | Resolution = model.model_construct(None, **named)
    return Kind(type_name, model, names, names[asked.question_id])


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
