"""Half-done things in the memory of one process."""

from __future__ import annotations

from datetime import datetime, timedelta

from sayso.clock import Clock


class MemoryDrafts:
    """Drafts of one process, until their time is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[str, datetime]] = {}

    async def keep(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for this long."""
        now = self._clock()
        self._kept = {name: kept for name, kept in self._kept.items() if kept[1] > now}
        self._kept[key] = (text, now + timedelta(seconds=seconds))

    async def read(self, key: str) -> str | None:
        """The text under the key, None when there is none."""
        text, until = self._kept.get(key, ("", self._clock()))
        return text if until > self._clock() else None

    async def take(self, key: str) -> str | None:
        """The text under the key, which is then gone."""
        text = await self.read(key)
        self._kept.pop(key, None)
        return text
