"""What desks tell each other by way of the store: cards that stand, and endings to show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha1
from typing import Any

from pydantic_core import from_json, to_json

from sayso.errors import UnreadableEventError
from sayso.stores.ports import Found, Job, Offer, Record, Shown
from sayso.stores.redis.records import known_record, read_copy, stored_request

GIVEN = "="
"""The receipt of a job that a desk got by settling begins so; the id of its request follows."""


def desk_topic(desk: str) -> str:
    """Where a desk of this name listens while it works; only the scripts publish there."""
    return f"desk:{desk}"


def told_offer(offer: Offer | None) -> tuple[str, bytes]:
    """An offer as ``mark.lua`` takes it."""
    if offer is None:
        return "", b""
    return offer.desk, to_json(dict(offer.choices))


def given_job(question_id: str, record: Record, *, tries: int = 1) -> Job:
    """The job to bring the cards of a request up to date, of which all is known."""
    return Job("end", question_id, f"{GIVEN}{question_id}", tries, record)


def given_record(question_id: str, all_of: Sequence[Any]) -> Record:
    """A request as ``all_of`` in common.lua tells it."""
    _, now, *fields = all_of
    return known_record(question_id, fields, int(now))


def read_told(data: bytes) -> Job | Shown:
    """What another desk did.

    Raises:
        UnreadableEventError: it cannot be read.
    """
    try:
        kind, *told = from_json(data)
        return _ended(told) if kind == "ended" else _shown(*told)
    except (ValueError, TypeError, KeyError) as error:
        raise UnreadableEventError(f"what a desk told cannot be read: {error}") from None


def _ended(told: Sequence[Any]) -> Job:
    question_id, now, *fields = told
    record = given_record(question_id, [question_id, now, *map(str.encode, fields)])
    return given_job(question_id, record)


def _shown(desk: str, offered: str, question_id: str, handle: str, *kept: str) -> Shown:
    """A card as mark.lua tells it: its request with the deadline, and the parts of the copy."""
    request, deadline, *parts = kept
    copy, _, _, _ = parts
    found = partial(_found, question_id, handle, request, deadline, parts)
    # What a script compares it with; nothing is secured by it that was not looked at here.
    seen = sha1(f"{request}{copy}".encode(), usedforsecurity=False).hexdigest()
    return Shown(handle, question_id, Offer(desk, from_json(offered)), found, seen)


def _found(
    question_id: str, handle: str, request: str, deadline: str, parts: Sequence[str]
) -> Found:
    shown = read_copy(question_id, handle, *(part.encode() for part in parts))
    return Found(shown, stored_request(request.encode(), deadline.encode()), None)
