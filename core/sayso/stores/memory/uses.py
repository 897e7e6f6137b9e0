"""What became of approvals, in the memory of one process."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Records
from sayso.stores.ports import Report, Use, Went


class MemoryUses:
    """Uses, as long as the requests themselves."""

    def __init__(self, records: Records, outbox: MemoryOutbox) -> None:
        self._records = records
        self._outbox = outbox

    async def take(self, question_id: str, key: str, *, until: datetime) -> Use | None:
        """Use an approval, once."""
        entry, now = self._records.get(question_id), self._records.now()
        if entry.use is not None and entry.use.at is not None:
            return entry.use
        is_given = entry.ending is not None and entry.ending.approves_a_call
        if not is_given or now >= until:
            return None
        entry.use = Use(key, now)
        self._outbox.put("end", question_id)
        return entry.use

    async def report(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts."""
        entry = self._records.get(question_id)
        if entry.use is None or entry.use.at is None:
            return None
        if entry.use.report is None:
            entry.use = replace(entry.use, report=Report(went, self._records.now(), note))
            self._outbox.put("end", question_id)
        return entry.use

    async def lapse(self, question_id: str) -> bool:
        """Record that an approval was not used."""
        entry = self._records.get(question_id)
        if entry.use is None:
            entry.use = Use()
            self._outbox.put("end", question_id)
        return entry.use.at is None
