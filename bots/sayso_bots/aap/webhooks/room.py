"""How many tries are under way at once, in all and to one host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class CrowdedError(Exception):
    """As many tries as are allowed are under way, in all or to this host."""


class Room:
    """Counts tries. Nobody waits here: who finds no room comes again."""

    def __init__(self, most: int, most_per_host: int) -> None:
        self.most = most
        self._most_per_host = most_per_host
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def taken(self, host: str) -> Iterator[None]:
        """One try to the host while the block runs.

        Raises:
            CrowdedError: there is no room for it.
        """
        full = self._under_way.total() >= self.most
        if full or self._under_way[host] >= self._most_per_host:
            raise CrowdedError
        self._under_way[host] += 1
        try:
            yield
        finally:
            self._under_way[host] -= 1
            if not self._under_way[host]:
                del self._under_way[host]
