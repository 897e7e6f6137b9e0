"""How often somebody may call: a bucket of tokens for each, filled again at a steady rate."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST_CALLERS = 10_000


class Limits:
    """Lets each caller through a number of times a second, and twice as often for a moment.

    Of more than 10,000 callers those who were here least recently are forgotten.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._most = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> int:
        """0 when the caller may go on, otherwise after how many seconds to come back."""
        now = self._clock()
        level = self._level(caller, now)
        self._buckets.pop(caller, None)
        self._buckets[caller] = (level - 1 if level >= 1 else level, now)
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        return self._until_one(level)

    def count(self, caller: str, calls: int) -> None:
        """So many calls more were made in one: whoever makes them waits the longer afterwards."""
        now = self._clock()
        self._buckets[caller] = (self._level(caller, now) - calls, now)

    def would_wait(self, caller: str) -> int:
        """What ``wait`` would say; it does not count as a call."""
        return self._until_one(self._level(caller, self._clock()))

    def _level(self, caller: str, now: float) -> float:
        level, since = self._buckets.get(caller, (self._most, now))
        return min(self._most, level + (now - since) * self._per_second)

    def _until_one(self, level: float) -> int:
        return 0 if level >= 1 else max(1, math.ceil((1 - level) / self._per_second))
