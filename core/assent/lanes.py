"""Lanes: one message at a time per place, and the pauses that a platform asks for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assent.errors import DeliveryError
from assent.places import Place

_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 30.0


class Lane:
    """The way to one place. Its pauses hold up nobody else."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._not_before = 0.0
        self._pause = _FIRST_PAUSE_SECONDS

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for those before and for the pause that the platform asked for.

        A DeliveryError that leaves the block sets the next pause: as long as
        the platform asked for, or twice as long as the last one.
        """
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._not_before > now:
                await asyncio.sleep(self._not_before - now)
            try:
                yield
            except DeliveryError as error:
                if not error.permanent:
                    self._hold(error)
                raise
            self._pause = _FIRST_PAUSE_SECONDS

    def _hold(self, error: DeliveryError) -> None:
        pause = error.retry_after
        if pause is None:
            pause = self._pause * random.uniform(0.75, 1.25)  # noqa: S311  jitter
            self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)
        self._not_before = asyncio.get_running_loop().time() + pause


class Lanes:
    """A lane for every place, made when it is first needed."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str], Lane] = {}

    def to(self, place: Place) -> Lane:
        """The lane to a place; the threads of a chat share it."""
        return self._lanes.setdefault((place.platform, place.address), Lane())
