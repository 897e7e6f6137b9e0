"""Texts that are changed only by whoever knows what they say, in the memory of one process."""

from __future__ import annotations

from datetime import datetime, timedelta

from sayso.clock import Clock


class MemoryDocuments:
    """Documents of one process, until their time is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[str, datetime]] = {}

    async def read(self, key: str) -> str | None:
        """The text under the key, None when there is none."""
        now = self._clock()
        text, until = self._kept.get(key, ("", now))
        if until <= now:
            return None
        return text

    async def swap(self, key: str, before: str | None, after: str, *, seconds: float) -> bool:
        """Keep a text for this long in the place of another one."""
        now = self._clock()
        known = await self.read(key)
        if known not in (before, after):
            return False
        self._kept = {name: kept for name, kept in self._kept.items() if kept[1] > now}
        self._kept[key] = (after, now + timedelta(seconds=seconds))
        return True
