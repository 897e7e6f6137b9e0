"""How late this machine is: a machine that is busy with other things breaks no promise."""

from __future__ import annotations

import asyncio

_EVERY_SECONDS = 0.02
_ON_TIME_SECONDS = 0.02


class Lag:
    """Measures by how much the event loop woke up late, as everything here does then.

    Bounds on time may be widened by it, bounds on safety never.
    """

    def __init__(self) -> None:
        self.worst = 0.0
        self._lost: list[tuple[float, float]] = []

    async def measure(self) -> None:
        """Measure until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _EVERY_SECONDS
            await asyncio.sleep(_EVERY_SECONDS)
            self.noted(loop.time(), loop.time() - due)

    def noted(self, at: float, late: float) -> None:
        """At a moment of the event loop, something ran so many seconds late."""
        if late > _ON_TIME_SECONDS:
            self.worst = max(self.worst, late)
            self._lost.append((at, late))

    def since(self, began: float) -> float:
        """The seconds that were lost in all from a moment of the event loop until now."""
        return sum(late for at, late in self._lost if at >= began)
