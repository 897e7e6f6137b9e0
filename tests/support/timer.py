"""Timers of the tests: one stands still until it is moved, the other is in a hurry."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class StoppedTimer:
    """Tells a time of its own; ``advance`` moves it from one end of a wait to the next."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self._waits: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        return self.time

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        over = asyncio.Event()
        wait = (self.time + seconds, over)
        self._waits.append(wait)
        ways = [asyncio.create_task(event.wait()), asyncio.create_task(over.wait())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waits.remove(wait)
            for way in ways:
                way.cancel()

    async def sleep(self, seconds: float) -> None:
        await self.wait(asyncio.Event(), seconds)

    async def advance(self, seconds: float) -> None:
        """Let so much time pass, and everything happen that happens meanwhile."""
        end = self.time + seconds
        await settle()
        while due := [until for until, _ in self._waits if until <= end]:
            self.time = max(self.time, min(due))
            for until, over in self._waits:
                if until <= self.time:
                    over.set()
            await settle()
        self.time = end


class QuickTimer:
    """The time of the event loop, a few hundred times as fast."""

    _FASTER = 300

    def now(self) -> float:
        return asyncio.get_running_loop().time() * self._FASTER

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), seconds / self._FASTER)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._FASTER)


async def settle() -> None:
    """Let everything go on that can."""
    for _ in range(100):
        await asyncio.sleep(0)
