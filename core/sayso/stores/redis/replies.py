"""Replies of commands and scripts, taken apart.

A reply that is none to what was asked raises ValueError, TypeError, LookupError or AttributeError
here, of which ``Client.read`` makes a store that cannot be used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sayso.errors import IdempotencyConflictError, UnreadableEventError
from sayso.events import Resolution, UserInputRequest
from sayso.questions.wire import decode_ending
from sayso.stores.protocols import BookChanged, Joined, Opened, Record
from sayso.stores.redis.records import known_record, read_record, stored_request
from sayso.stores.told import build_full_error

# The results of resolve_request.lua, and how much comes with each at least.
_SETTLED = {b"first": 1, b"known": 1, b"late": 2, b"early": 0, b"homeless": 0}
_SETTLED |= {b"unknown": 0, b"changed": 3}


def flag(reply: object) -> bool:
    """Yes or no, as scripts say it.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(reply, int) or reply not in (0, 1):
        raise ValueError("neither yes nor no")
    return reply == 1


def number(reply: object) -> int:
    """A whole number.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(reply, int):
        raise TypeError("not a number")
    return reply


def names(reply: object) -> list[bytes]:
    """A list of names.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(reply, list) or not all(isinstance(name, bytes) for name in reply):
        raise ValueError("not a list of names")
    return reply


def optional_text(reply: bytes | None) -> str | None:
    """A text, or None where there is none."""
    return None if reply is None else reply.decode()


def read_opened(request: UserInputRequest, reply: Sequence[Any]) -> Opened | BookChanged | Joined:
    """The result of open_request.lua."""
    said, *left = reply
    match said:
        case b"open":
            lifetime, now = left
            return Opened(lifetime / 1000, now / 1000)
        case b"changed":
            return BookChanged()
        case b"joined":
            question_id, now, *fields = left
            return Joined(known_record(question_id.decode(), fields, now))
        case b"full":
            raise build_full_error(request, left[0].decode(), left[1])
        case b"duplicate":
            raise IdempotencyConflictError.for_request_id(request.question_id)
    raise ValueError("open_request.lua knows no such result")


def read_settled(reply: Sequence[Any]) -> tuple[bytes, Sequence[Any]]:
    """The word of resolve_request.lua, and what comes with it."""
    said, *rest = reply
    if len(rest) < _SETTLED[said]:
        raise ValueError("resolve_request.lua says more")
    return said, rest


def read_ending(reply: bytes | int) -> Resolution | int:
    """The ending that counts, or the number that a script says in its place."""
    return decode_ending(reply) if isinstance(reply, bytes) else int(flag(reply))


def read_known(question_id: str, reply: Sequence[Any]) -> Record | None:
    """A request as get_request.lua tells it; None when there is none."""
    now, *fields = reply
    return read_record(question_id, fields, number(now))


def read_looked(
    question_ids: Sequence[str], replies: Sequence[bytes | int]
) -> Mapping[str, Resolution | UnreadableEventError | None]:
    """The ending of each request that is known, None while it is open."""
    return {
        question_id: None if reply == 1 else _ending_or_error(reply)  # type: ignore[arg-type]
        for question_id, reply in zip(question_ids, replies, strict=True)
        if reply != 0
    }


def read_due(reply: Sequence[Any]) -> tuple[int, int, list[tuple[str, bytes]]]:
    """The server's time, the ms until the next deadline, and the requests that are overdue."""
    now, left, *overdue = reply
    pairs = zip(overdue[::2], overdue[1::2], strict=True)
    return number(now), number(left), [(one.decode(), request) for one, request in pairs]


def read_asked(reply: Sequence[bytes]) -> Sequence[UserInputRequest]:
    """The requests of list_recent_requests.lua that can be read."""
    found = []
    for request, deadline in zip(reply[::2], reply[1::2], strict=True):
        with suppress(UnreadableEventError):
            found.append(stored_request(request, deadline))
    return found


def _ending_or_error(data: bytes) -> Resolution | UnreadableEventError:
    """One ending of many: one that cannot be read must not hide the others."""
    try:
        return decode_ending(data)
    except UnreadableEventError as error:
        return error
