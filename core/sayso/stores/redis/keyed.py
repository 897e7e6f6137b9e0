"""Requests in Redis by the keys they were asked under: one script for each step."""

from __future__ import annotations

from typing import Any

from sayso.calls import RunRef
from sayso.events import Resolution
from sayso.questions.wire import encode
from sayso.stores import audit
from sayso.stores.ports import Hold, Record
from sayso.stores.redis.connection import Client
from sayso.stores.redis.records import known_record
from sayso.stores.redis.replies import flag
from sayso.stores.redis.script import Script
from sayso.stores.session_state import session_key, short_key

_KEYED, _LEAVE = Script("keyed"), Script("leave")


class RedisKeyed:
    """Keys live as long as their requests; they are kept as hashes."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def find(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key."""
        holding = (0, "", "") if hold is None else (1, hold.waiter, hold.inbox)
        words = (session_key(run), short_key(key), *holding)
        return await self._client.run(_KEYED, *words, read=_read_found)

    async def leave(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold; with an ending, withdraw the request if nobody else holds it."""
        written, facts = b"", b""
        if ending is not None:
            written, facts = encode(ending), audit.written(audit.ended(ending))
        return await self._client.run(_LEAVE, question_id, waiter, written, facts, read=flag)


def _read_found(reply: list[Any]) -> Record | None:
    if reply == []:
        return None
    question_id, now, *fields = reply
    return known_record(question_id.decode(), fields, now)
