"""How many calls of an instance wait at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from sayso_bots.aap.errors import too_many


class Waiting:
    """Counts the calls that wait, as many at once for each instance as it may have."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: Counter[str] = Counter()

    @contextmanager
    def take(self, instance_id: str) -> Iterator[None]:
        """A place for this instance while the block runs.

        Raises:
            AapError: too many calls of this instance wait already.
        """
        if self._waiting[instance_id] >= self._most:
            raise too_many(1)
        self._waiting[instance_id] += 1
        try:
            yield
        finally:
            self._waiting[instance_id] -= 1
            if not self._waiting[instance_id]:
                del self._waiting[instance_id]
