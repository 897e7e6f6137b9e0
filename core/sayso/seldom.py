"""Lines of a log that a stranger can cause: said at once, then counted."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping

SECONDS = 60.0
MOST_SOURCES = 20
MOST_LINES = 1_000
ELSEWHERE = "elsewhere"

Later = Callable[[float, Callable[[], None]], object]


class Seldom:
    """Says each line at once, and once a minute how often it would have been repeated.

    Lines are counted by their text and by who caused them. A text has 20
    sources at a time, all others count together; of more than 1,000 lines
    the further ones are counted as one. ``later`` is the loop's
    ``call_later``.
    """

    def __init__(
        self, log: logging.Logger, *, level: int = logging.WARNING, later: Later | None = None
    ) -> None:
        self._log = log
        self._level = level
        self._later = later
        self._repeated: dict[tuple[str, str], int] = {}
        self._sources: Counter[str] = Counter()

    def __len__(self) -> int:
        """How many lines are remembered."""
        return len(self._repeated)

    def say(
        self, text: str, source: str = "", *, extra: Mapping[str, object] | None = None
    ) -> None:
        """Log the line, or count it where it was said less than a minute ago.

        ``extra`` is for formatters, as in ``logging``; the line that counts comes without it.
        """
        line = self._counted_as(text, source)
        if line in self._repeated:
            self._repeated[line] += 1
            return
        self._repeated[line] = 0
        self._sources[line[0]] += 1
        self._log.log(self._level, "%s%s", line[0], _from(line[1]), extra=extra)
        self._look_again(line)

    def _counted_as(self, text: str, source: str) -> tuple[str, str]:
        if (text, source) in self._repeated:
            return text, source
        if len(self._repeated) >= MOST_LINES:
            return "too many kinds of line to count them apart", ""
        return text, source if self._sources[text] < MOST_SOURCES else ELSEWHERE

    def _look_again(self, line: tuple[str, str]) -> None:
        later = self._later or asyncio.get_running_loop().call_later
        later(SECONDS, lambda: self._over(line))

    def _over(self, line: tuple[str, str]) -> None:
        """A minute is over: say how often it came again, or forget it."""
        times, (text, source) = self._repeated[line], line
        if times:
            self._repeated[line] = 0
            self._log.log(
                self._level, "%s%s, and %d more in the last minute", text, _from(source), times
            )
            self._look_again(line)
            return
        del self._repeated[line]
        self._sources[text] -= 1
        if not self._sources[text]:
            del self._sources[text]


def _from(source: str) -> str:
    return f" (from {source})" if source else ""
