"""Bodies and headers as they are read: strictly, so that nothing of a call is guessed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from aiohttp import web

from sayso_bots import exact
from sayso_bots.aap.errors import AapError, invalid

_T = TypeVar("_T")

LONGEST_KEY = 255
_KEY = re.compile(rf"[!-~]{{1,{LONGEST_KEY}}}")
_SHORT = 16 * 1024


async def read_object(
    request: web.Request,
    *,
    allowed: Collection[str],
    needed: Collection[str] = (),
    nullable: Collection[str] = (),
) -> dict[str, Any]:
    """The JSON object that was sent, with these fields alone; its numbers are ``exact.Number``.

    Raises:
        AapError: it is not one, or has other fields, a null, or too few.
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        message = "send the body as it is, without Content-Encoding"
        raise invalid(message, code="invalid_content_encoding")
    charset = (request.charset or "utf-8").lower()
    if request.content_type != "application/json" or charset != "utf-8":
        message = "send the header Content-Type: application/json"
        raise invalid(message, code="invalid_content_type")
    body = await request.read()
    try:
        found = await beside(body, lambda: exact.read(body))
    except ValueError as error:
        raise invalid(str(error), code="invalid_json") from None
    if not isinstance(found, dict):
        raise invalid("the body is JSON, but not an object", code="invalid_json")
    check_fields(found, allowed=allowed, needed=needed, nullable=nullable)
    return found


async def beside(body: bytes, work: Callable[[], _T]) -> _T:
    """What comes of the work on a body; others do not wait for that on a long one."""
    return await asyncio.to_thread(work) if len(body) > _SHORT else work()


def check_fields(
    found: Mapping[str, Any],
    *,
    allowed: Collection[str],
    needed: Collection[str] = (),
    nullable: Collection[str] = (),
    within: str = "",
) -> None:
    """See that an object has these fields alone, all that it needs, and no nulls.

    Raises:
        AapError: it has others; the error names the first.
    """
    for name, value in found.items():
        if name not in allowed:
            raise invalid("there is no such field", param=f"{within}{name:.80}")
        if value is None and name not in nullable:
            raise invalid("must not be null; leave it out", param=f"{within}{name}")
    for name in needed:
        if name not in found:
            raise invalid("is missing", param=f"{within}{name}")


def text_in(
    found: Mapping[str, Any], name: str, *, most: int, empty: bool = False, within: str = ""
) -> str:
    """A string of an object; empty where it is left out.

    Raises:
        AapError: it is not a string, is empty, or too long.
    """
    value = found.get(name)
    if value is None:
        return ""
    if not exact.is_text(value):
        raise invalid("must be a string", param=within + name)
    if not value and not empty:
        raise invalid("must not be empty", param=within + name)
    if len(value) > most:
        raise invalid(f"has at most {most:,} characters", param=within + name)
    return value


def idempotency_key(request: web.Request) -> str:
    """What names the call, however often it is made.

    Raises:
        AapError: there is none, or one that cannot be used.
    """
    sent = request.headers.getall("Idempotency-Key", [])
    if not any(sent):
        message = "send the header Idempotency-Key"
        raise invalid(message, code="missing_idempotency_key")
    if len(sent) != 1 or not _KEY.fullmatch(sent[0]):
        message = f"one Idempotency-Key, of 1 to {LONGEST_KEY} printable ASCII characters"
        raise invalid(message, code="invalid_idempotency_key")
    return sent[0]


async def without_body(request: web.Request) -> None:
    """See that nothing was sent.

    Raises:
        AapError: something was.
    """
    if await request.read():
        raise invalid("this call has no body", code="unexpected_body")


def bearer(request: web.Request) -> str:
    """The token that was presented; empty where there is none.

    Raises:
        AapError: there are several.
    """
    sent = request.headers.getall("Authorization", [])
    if len(sent) > 1:
        raise AapError(401, "invalid_token", "send one Authorization header")
    scheme, _, token = (sent[0] if sent else "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
