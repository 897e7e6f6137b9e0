"""What became of approvals, in Redis."""

from __future__ import annotations

from datetime import datetime

from sayso.errors import RequestNotFoundError
from sayso.stores import audit
from sayso.stores.ports import BookChanged, Use, Went
from sayso.stores.redis.client import Client, Script
from sayso.stores.redis.records import read_use, stored_report

_TAKE, _REPORT, _LAPSE = Script("take_use"), Script("report_use"), Script("lapse")
_CHANGED = 2


class RedisUses:
    """Uses, as long as the requests themselves. Moments are those of the server's clock."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def take(
        self, question_id: str, key: str, *, until: datetime, book: str | None = None
    ) -> Use | BookChanged | None:
        """Use an approval, once."""
        over = round(until.timestamp() * 1000)
        facts = audit.written(audit.taken())
        looked = int(book is not None)
        said = await self._client.run(_TAKE, question_id, key, over, facts, looked, book or "")
        return BookChanged() if said == _CHANGED else _use(question_id, said)

    async def report(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts."""
        written, facts = stored_report(went, note), audit.written(audit.reported(went, note))
        return _use(question_id, await self._client.run(_REPORT, question_id, written, facts))

    async def lapse(self, question_id: str) -> bool:
        """Record that an approval was not used."""
        facts = audit.written(audit.lapsed())
        said: int = await self._client.run(_LAPSE, question_id, facts)
        if said < 0:
            raise RequestNotFoundError(question_id)
        return said == 1


def _use(question_id: str, said: int | list[bytes | None]) -> Use | None:
    if said == 0:
        raise RequestNotFoundError(question_id)
    return None if isinstance(said, int) else read_use(said)
