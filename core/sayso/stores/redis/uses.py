"""What became of approvals, in Redis."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from sayso.errors import RequestNotFoundError
from sayso.stores import audit
from sayso.stores.ports import Use, Went
from sayso.stores.redis.connection import Client
from sayso.stores.redis.records import read_use, stored_report
from sayso.stores.redis.replies import flag
from sayso.stores.redis.script import Script

_TAKE, _REPORT = Script("take_use"), Script("report_use")


class RedisUses:
    """Uses, as long as the requests themselves. Moments are those of the server's clock."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def take(self, question_id: str, key: str, *, until: datetime) -> Use | None:
        """Use an approval, once."""
        over = round(until.timestamp() * 1000)
        words = (question_id, key, over, audit.written(audit.taken()))
        return await self._client.run(_TAKE, *words, read=partial(_use, question_id))

    async def report(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts."""
        written, facts = stored_report(went, note), audit.written(audit.reported(went, note))
        words = (question_id, written, facts)
        return await self._client.run(_REPORT, *words, read=partial(_use, question_id))


def _use(question_id: str, said: int | list[bytes | None]) -> Use | None:
    if said == 0:
        raise RequestNotFoundError(question_id)
    if isinstance(said, int):
        flag(said)
        return None
    return read_use(said)
