"""Requests in memory by the keys they were asked under."""

from __future__ import annotations

from sayso.calls import RunRef
from sayso.events import Resolution
from sayso.stores.memory.bus import MemoryBus
from sayso.stores.memory.records import Entry, Records
from sayso.stores.memory.store import MemoryStore
from sayso.stores.ports import Hold, Record


class MemoryKeyed:
    """Keys live as long as their requests."""

    def __init__(self, records: Records, store: MemoryStore, bus: MemoryBus) -> None:
        self._records = records
        self._store = store
        self._bus = bus

    async def find(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key."""
        entry = self._records.under(run, key)
        if entry is None:
            return None
        if hold is not None:
            entry.hold(hold)
        return self._records.record(entry)

    async def leave(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold; with an ending, withdraw the request if nobody else holds it."""
        entry = self._records.find(question_id)
        if entry is None or entry.ending is not None:
            return entry is not None and entry.ending == ending
        if entry.holds.pop(waiter, None) is None or ending is None or self._is_held(entry):
            return False
        # What is over has expired: whoever finds it first says so.
        if self._records.now() >= entry.deadline:
            return False
        self._records.free(entry)
        await self._store.settle(question_id, ending)
        return True

    def _is_held(self, entry: Entry) -> bool:
        """Whether anybody counts on it: a hold of an inbox that nobody listens to does not."""
        return any(not inbox or self._bus.is_heard(inbox) for inbox in entry.holds.values())
