"""How long to wait before the store is tried again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

FIRST_SECONDS = 0.05
LONGEST_SECONDS = 0.4
"""Whoever waits for the store is right again well within a second of its return."""

_SPREAD = 0.25


class Pause:
    """A pause that doubles from 50 ms to 400 ms, until things go well again.

    Each is up to a quarter longer or shorter, so that many processes do not all come at once.
    """

    def __init__(
        self,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        spread: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._sleep = sleep
        self._spread = spread
        self._seconds = FIRST_SECONDS

    def reset(self) -> None:
        """Things go well: the next pause is a short one."""
        self._seconds = FIRST_SECONDS

    async def take(self) -> None:
        """Wait; longer the next time."""
        seconds, self._seconds = self._seconds, min(2 * self._seconds, LONGEST_SECONDS)
        await self._sleep(seconds * self._spread(1 - _SPREAD, 1 + _SPREAD))
