"""Remembers which callbacks were here, for as long as their signatures hold."""

from __future__ import annotations

from datetime import datetime

from sayso.errors import ReplayedCallbackError

_MOST = 65_536


class Replays:
    """The callbacks of the last so many seconds, at most 65,536 of them.

    It knows one process only: the store is asked about presses as well.
    """

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._seen: dict[str, float] = {}

    def refuse(self, delivery: str, now: datetime) -> None:
        """Note the callback.

        Raises:
            ReplayedCallbackError: it was here before.
        """
        at = now.timestamp()
        self._forget(at)
        if delivery in self._seen:
            raise ReplayedCallbackError("callback refused: the very same one was here before")
        self._seen[delivery] = at

    def _forget(self, now: float) -> None:
        # In order of arrival: the oldest is first.
        while self._seen:
            oldest = next(iter(self._seen))
            if len(self._seen) < _MOST and now - self._seen[oldest] <= self._seconds:
                return
            del self._seen[oldest]
