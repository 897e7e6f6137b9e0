"""Which desks are at work, in the memory of one process."""

from __future__ import annotations

from datetime import datetime, timedelta

from sayso.clock import Clock


class MemoryRoster:
    """The desks of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, datetime] = {}

    async def join(self, desk: str, *, seconds: float) -> None:
        """The desk of this name is at work for so long."""
        self._until[desk] = self._clock() + timedelta(seconds=seconds)

    async def leave(self, desk: str) -> None:
        """The desk has stopped."""
        self._until.pop(desk, None)

    async def count(self) -> int:
        """How many desks are at work."""
        now = self._clock()
        self._until = {desk: until for desk, until in self._until.items() if until > now}
        return len(self._until)
