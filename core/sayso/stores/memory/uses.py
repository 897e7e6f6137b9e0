"""What became of approvals, in the memory of one process."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sayso.stores import audit
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Entry, Records
from sayso.stores.ports import Report, Use, Went


class MemoryUses:
    """Uses, as long as the requests themselves."""

    def __init__(self, records: Records, audit: MemoryAudit, outbox: MemoryOutbox) -> None:
        self._records = records
        self._audit = audit
        self._outbox = outbox

    async def take(self, question_id: str, key: str, *, until: datetime) -> Use | None:
        """Use an approval, once."""
        entry, now = self._records.get(question_id), self._records.now()
        if entry.use is not None:
            return entry.use
        if not _is_approved(entry) or now >= until:
            return None
        return self._told(entry, Use(key, now), audit.taken())

    async def report(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts."""
        entry = self._records.get(question_id)
        if entry.use is None:
            return None
        if entry.use.report is not None:
            return entry.use
        use = replace(entry.use, report=Report(went, self._records.now(), note))
        return self._told(entry, use, audit.reported(went, note))

    def _told(self, entry: Entry, use: Use, facts: audit.Facts) -> Use:
        entry.use = use
        if entry.ending is not None and entry.ending.decided_by is not None:
            self._audit.write(audit.about(entry.request), facts)
        self._outbox.put_job("end", entry.request.question_id, again=True)
        return use


def _is_approved(entry: Entry) -> bool:
    return entry.ending is not None and entry.ending.approves_a_call
