"""Which desks are at work, in the memory of one process."""

from __future__ import annotations

from datetime import datetime, timedelta

from sayso.clock import Clock
from sayso.stores.memory.records import Records
from sayso.stores.ports import OpenLimits


class MemoryRoster:
    """The desks of one process."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._until: dict[str, datetime] = {}

    async def join(self, desk: str, *, seconds: float, limits: OpenLimits | None = None) -> None:
        """The desk of this name is at work for so long, with these limits."""
        if limits is not None:
            self._records.limits = limits
        self._until[desk] = self._clock() + timedelta(seconds=seconds)

    async def leave(self, desk: str) -> None:
        """The desk has stopped."""
        self._until.pop(desk, None)

    async def count(self) -> int:
        """How many desks are at work."""
        now = self._clock()
        self._until = {desk: until for desk, until in self._until.items() if until > now}
        return len(self._until)
