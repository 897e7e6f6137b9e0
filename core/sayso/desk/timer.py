"""The time by which a desk pauses: that of the event loop, or one that a test moves."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol


class Timer(Protocol):
    """Tells the time in seconds and waits by it."""

    def now(self) -> float:
        """The time; it never goes back."""
        ...

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Return when the event is set, or when so many seconds are over."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when so many seconds are over."""
        ...


class LoopTimer:
    """The time of the event loop."""

    def now(self) -> float:
        """The time; it never goes back."""
        return asyncio.get_running_loop().time()

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Return when the event is set, or when so many seconds are over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), seconds)

    async def sleep(self, seconds: float) -> None:
        """Return when so many seconds are over."""
        await asyncio.sleep(seconds)
