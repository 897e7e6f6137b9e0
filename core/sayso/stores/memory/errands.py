"""Things to be done later, in the memory of one process."""

from __future__ import annotations

from datetime import datetime, timedelta

from sayso.clock import Clock
from sayso.stores.ports import Due


class MemoryErrands:
    """Errands of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queues: dict[str, dict[str, datetime]] = {}

    async def put(
        self,
        queue: str,
        name: str,
        *,
        seconds: float = 0.0,
        about: str = "",  # noqa: ARG002
    ) -> None:
        """Let the name be due in so many seconds."""
        self._queues.setdefault(queue, {})[name] = self._clock() + timedelta(seconds=seconds)

    async def take(self, queue: str, *, most: int, hold: float) -> Due:
        """What is due; due again in ``hold`` seconds unless it is done by then."""
        now, waiting = self._clock(), self._queues.get(queue, {})
        due = sorted((at, name) for name, at in waiting.items() if at <= now)[:most]
        for _, name in due:
            waiting[name] = now + timedelta(seconds=hold)
        next_at = min(waiting.values(), default=None)
        left = None if next_at is None else max(0.0, (next_at - now).total_seconds())
        return Due([name for _, name in due], left)

    async def done(self, queue: str, name: str) -> None:
        """It is done, and will not come again."""
        self._queues.get(queue, {}).pop(name, None)
