"""A timeout that counts only the time in which our own event loop was free."""

from __future__ import annotations

import asyncio
from types import TracebackType

_PARTS = 8


class LoopTimeout:
    """``asyncio.timeout`` that does not run while something else holds up our event loop.

    A loop that was held up has not read what arrived meanwhile: that is no silence of the
    server's. Of each eighth of the time, no more is counted than it is long.

    Raises:
        TimeoutError: the block took longer.
    """

    __slots__ = ("_left", "_loop", "_part", "_timeout", "_timer")

    def __init__(self, seconds: float) -> None:
        self._part = seconds / _PARTS
        self._left = _PARTS

    async def __aenter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeout = asyncio.timeout(None)
        await self._timeout.__aenter__()
        self._timer = self._loop.call_later(self._part, self._count)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        await self._timeout.__aexit__(kind, error, trace)

    def _count(self) -> None:
        self._left -= 1
        if self._left > 0:
            self._timer = self._loop.call_later(self._part, self._count)
        else:  # one turn later, so that what has just arrived comes first
            self._timeout.reschedule(self._loop.time())
