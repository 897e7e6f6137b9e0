"""A timer that stands still until a test moves it."""

from __future__ import annotations

import asyncio


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


async def settle() -> None:
    """Let everything go on that can."""
    for _ in range(100):
        await asyncio.sleep(0)
