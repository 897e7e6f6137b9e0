"""The audit in the memory of one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from heapq import merge
from itertools import count as numbers

from sayso.clock import Clock
from sayso.stores import audit
from sayso.stores.audit import (
    ACTIVITY_ENTRIES,
    KEPT_ACTIVITY,
    REFUSALS_KEPT,
    AuditEntry,
    AuditPage,
    RefusalKind,
)
from sayso.stores.memory.records import Records

_Noted = tuple[int, AuditEntry]


class MemoryAudit:
    """Decisions until they are trimmed, and each agent's newest activity."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._numbers = numbers()
        self._decisions: deque[_Noted] = deque()
        # The agent that was written about last comes last.
        self._activity: dict[str, deque[_Noted]] = {}

    async def refuse(
        self, question_id: str, refusal: RefusalKind, *, by: str, place: str, choice: str
    ) -> bool:
        """Note that a press on a known request was refused; False where it is not noted."""
        entry = self._records.find(question_id)
        if entry is None or len(entry.refused) >= REFUSALS_KEPT or (refusal, by) in entry.refused:
            return False
        entry.refused.add((refusal, by))
        facts = audit.refused(refusal, by=by, place=place, choice=choice)
        self.write(audit.about(entry.request), facts)
        return True

    async def read(
        self,
        count: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        wanted: Callable[[AuditEntry], bool] | None = None,
    ) -> Sequence[AuditEntry]:
        """Read the last entries, oldest first."""
        found = [
            entry
            for entry in self._entries()
            if (since is None or entry.at >= since)
            and (until is None or entry.at < until)
            and (wanted is None or wanted(entry))
        ]
        return found[-count:] if count > 0 else []

    async def read_page(self, since: datetime | None, *, count: int) -> AuditPage:
        """Read the entries from a moment on, oldest first."""
        now = self._clock()
        if since is None:
            return AuditPage([], now)
        found = [entry for entry in self._entries() if since <= entry.at < now]
        if len(found) <= count:
            return AuditPage(found, max(since, now))
        last = found[count - 1].at
        page = [entry for entry in found if entry.at <= last]
        return AuditPage(page, last + timedelta.resolution)

    async def note(self, facts: audit.Facts) -> None:
        """Write an entry on what was decided without a question."""
        self.write(facts)

    async def trim(self, keep: timedelta) -> None:
        """Drop the decisions that are older than this."""
        since = self._clock() - keep
        while self._decisions and self._decisions[0][1].at < since:
            self._decisions.popleft()

    def write(self, *facts: audit.Facts) -> None:
        """Write an entry."""
        now = self._clock()
        entry = audit.entry(now, *facts)
        noted = next(self._numbers), entry
        if audit.is_decision({"kind": entry.kind, "by": entry.by}):
            self._decisions.append(noted)
            return
        stream = self._activity.pop(entry.agent_id, None)
        self._activity[entry.agent_id] = stream or deque(maxlen=ACTIVITY_ENTRIES)
        self._activity[entry.agent_id].append(noted)
        while (oldest := next(iter(self._activity.values())))[-1][1].at < now - KEPT_ACTIVITY:
            del self._activity[oldest[-1][1].agent_id]

    def _entries(self) -> Iterator[AuditEntry]:
        streams = (self._decisions, *self._activity.values())
        return (entry for _, entry in merge(*streams, key=lambda noted: noted[0]))
