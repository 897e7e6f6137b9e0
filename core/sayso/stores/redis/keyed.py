"""Requests in Redis by the keys they were asked under: one script for each step."""

from __future__ import annotations

from sayso.calls import RunRef
from sayso.events import Resolution
from sayso.questions.wire import encode
from sayso.stores import audit
from sayso.stores.ports import Hold, Record
from sayso.stores.redis.client import Client, Script
from sayso.stores.redis.keys import session_key, short_key
from sayso.stores.redis.records import known_record

_KEYED, _LEAVE = Script("keyed"), Script("leave")


class RedisKeyed:
    """Keys live as long as their requests; they are kept as hashes."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def find(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key."""
        holding = (0, "", "") if hold is None else (1, hold.waiter, hold.inbox)
        found = await self._client.run(_KEYED, session_key(run), short_key(key), *holding)
        if not found:
            return None
        question_id, now, *fields = found
        return known_record(question_id.decode(), fields, now)

    async def leave(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold; with an ending, withdraw the request if nobody else holds it."""
        written, facts = b"", b""
        if ending is not None:
            written, facts = encode(ending), audit.written(audit.ended(ending))
        return bool(await self._client.run(_LEAVE, question_id, waiter, written, facts))
