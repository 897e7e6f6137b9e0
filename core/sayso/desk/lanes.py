"""Lanes: one message at a time per place, and the pauses that a platform asks for."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sayso.chats.places import Place
from sayso.errors import DeliveryError, SaysoError

_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 30.0


class LanesClosedError(SaysoError):
    """No message leaves any more: the desk stops."""


class Lane:
    """The way to one place. Its pauses hold up nobody else."""

    def __init__(self, closing: asyncio.Event) -> None:
        self._closing = closing
        self._lock = asyncio.Lock()
        self._not_before = 0.0
        self._pause = _FIRST_PAUSE_SECONDS

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for those before and for the pause that the platform asked for.

        A DeliveryError that leaves the block sets the next pause: as long as
        the platform asked for, or twice as long as the last one.

        Raises:
            LanesClosedError: the desk stops; another one takes over.
        """
        async with self._lock:
            await self._wait_out_the_pause()
            try:
                yield
            except DeliveryError as error:
                if not error.permanent:
                    self._hold(error)
                raise
            self._pause = _FIRST_PAUSE_SECONDS

    async def _wait_out_the_pause(self) -> None:
        pause = self._not_before - asyncio.get_running_loop().time()
        if pause > 0 and not self._closing.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), pause)
        if self._closing.is_set():
            raise LanesClosedError("the desk stops")

    def _hold(self, error: DeliveryError) -> None:
        pause = error.retry_after
        if pause is not None and math.isfinite(pause):
            pause = max(pause, _FIRST_PAUSE_SECONDS)
        else:
            pause = self._pause * random.uniform(0.75, 1.25)  # noqa: S311  jitter
            self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)
        self._not_before = asyncio.get_running_loop().time() + pause


class Lanes:
    """A lane for every place, made when it is first needed."""

    def __init__(self) -> None:
        self._closing = asyncio.Event()
        self._lanes: dict[tuple[str, str], Lane] = {}

    def to(self, place: Place) -> Lane:
        """The lane to a place; the threads of a chat share it."""
        return self._lanes.setdefault((place.platform, place.address), Lane(self._closing))

    def close(self) -> None:
        """Let messages on their way arrive and send no others."""
        self._closing.set()
