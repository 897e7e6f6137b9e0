"""Card handles in Redis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from sayso.errors import ReplayedCallbackError, RequestNotFoundError
from sayso.questions.wire import decode_ending
from sayso.stores.protocols import KEPT, Copy, Found, Marked
from sayso.stores.redis.connection import Client
from sayso.stores.redis.records import (
    moment,
    read_copy,
    read_revoked,
    read_use,
    stored_bundle,
    stored_call,
    stored_copy,
    stored_place,
    stored_request,
)
from sayso.stores.redis.replies import flag
from sayso.stores.redis.script import Script

_ISSUE, _DROP = Script("record_intent"), Script("discard_intent")
_FIND, _MARK = Script("find_card"), Script("record_message")


class RedisCopies:
    """Handles live as long as their request; deliveries are remembered for ten minutes."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def issue(self, copy: Copy, *, keep: timedelta = KEPT) -> None:
        """Bind a new handle to its request and place.

        Raises:
            RequestNotFoundError: no such request.
        """
        milliseconds = round(keep.total_seconds() * 1000)
        kept = (stored_copy(copy), stored_bundle(copy), milliseconds, stored_call(copy))
        if not await self._client.run(_ISSUE, copy.question_id, copy.handle, *kept, read=flag):
            raise RequestNotFoundError(copy.question_id)

    async def drop(self, copy: Copy) -> None:
        """Forget an intention that was not carried out."""
        await self._client.run(_DROP, copy.question_id, copy.handle)

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown."""
        words = (handle, delivery, self._client.token())
        return await self._client.run(_FIND, *words, read=partial(_read_found, handle))

    async def mark(self, copy: Copy) -> Marked:
        """Note the message a copy became and whether all of it was shown: what was, stays so.

        Raises:
            RequestNotFoundError: no such request.
        """
        marked = await self._client.run(
            _MARK,
            copy.question_id,
            copy.handle,
            stored_copy(copy),
            stored_place(copy.target),
            read=_read_marked,
        )
        if marked is None:
            raise RequestNotFoundError(copy.question_id)
        return marked


def _read_found(handle: str, reply: Sequence[Any]) -> Found | None:
    said, *rest = reply
    if said == b"replayed":
        raise ReplayedCallbackError("this callback was handled before")
    if said == b"unknown":
        return None
    question_id, request, deadline, copy, ending, bundle, more, use, revoked, call = rest
    return Found(
        read_copy(question_id.decode(), handle, copy, bundle, more, call),
        stored_request(request, deadline),
        None if ending is None else decode_ending(ending),
        read_use(use),
        read_revoked(*revoked),
    )


def _read_marked(reply: Sequence[Any]) -> Marked | None:
    said, closed = reply
    if said == 0:
        return None
    return Marked(None if said == 1 else decode_ending(said), moment(closed) if closed else None)
