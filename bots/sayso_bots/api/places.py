"""Room for calls that stay open: streams of events, and looks that wait for an end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from sayso_bots.api.problems import ApiProblem

_AGAIN = {"Retry-After": "5"}


class Places:
    """So many calls of one process stay open at a time; no caller has more than half of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._each = max(1, most // 2)
        self._taken: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._taken.total()

    @contextmanager
    def take(self, caller: str) -> Iterator[None]:
        """A place for this caller while the block runs.

        Raises:
            ApiProblem: there is none left, or none for this caller.
        """
        if len(self) >= self._most:
            detail = "this server has no room for more streams now; come back later"
            raise ApiProblem(503, "TooManyStreams", detail, headers=_AGAIN)
        if self._taken[caller] >= self._each:
            detail = f"{self._each} streams or waits are open with this token; close some"
            raise ApiProblem(429, "TooManyStreams", detail, headers=_AGAIN)
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken[caller] -= 1
            if not self._taken[caller]:
                del self._taken[caller]
