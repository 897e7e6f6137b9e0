"""Lasting failures, logged seldom: at once, on a change, each minute, and when they are over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from operator import itemgetter

from sayso.errors import SaysoError

AGAIN_AFTER_SECONDS = 60.0


class Troubles:
    """What one process logs about a store that does not answer, however many runs wait for it."""

    def __init__(
        self, log: logging.Logger, *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._seconds = seconds
        self._said: dict[str, tuple[str, float]] = {}
        self._since: dict[str, float] = {}

    def tell(self, what: str, error: Exception) -> None:
        """Log a failure, an unforeseen one with its trace, unless it was said a moment ago."""
        now, text = self._seconds(), str(error)
        said, at = self._said.get(what, ("", 0.0))
        if what in self._said and said == text and now - at < AGAIN_AFTER_SECONDS:
            return
        self._said[what] = text, now
        self._since.setdefault(what, now)
        self._log.warning("%s: %s", what, error, exc_info=not isinstance(error, SaysoError))

    @property
    def latest(self) -> str:
        """What was told last of all that does not work yet; empty where all is well."""
        return max(self._said.values(), key=itemgetter(1), default=("", 0.0))[0]

    def over(self, what: str) -> None:
        """This works again, which is told where it did not: the next failure is news."""
        self._said.pop(what, None)
        if (since := self._since.pop(what, None)) is not None:
            self._log.info("over after %.0f s: %s", self._seconds() - since, what)
