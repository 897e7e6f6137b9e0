"""On which terms Always remembers: for how long, and how far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sayso.always.words import ENGLISH, AlwaysWords
from sayso.errors import ConfigError
from sayso.rules.rule import Scope

LONGEST_WINDOW = timedelta(minutes=60)


@dataclass(frozen=True, slots=True)
class Terms:
    """What may be stored by a press, and until when it holds.

    ``scopes`` are those that are offered at all; without any, nothing can be
    remembered. A ``tool-window`` lasts for ``window``, everything else for
    ``remember_for``.

    Raises:
        ConfigError: a duration is not more than zero, or the window is longer
            than 60 minutes.
    """

    remember_for: timedelta = timedelta(hours=24)
    scopes: frozenset[Scope] = frozenset({"session"})
    window: timedelta = timedelta(minutes=15)

    def __post_init__(self) -> None:
        if min(self.remember_for, self.window) <= timedelta(0):
            raise ConfigError("what is remembered must last for more than 0 seconds")
        if self.window > LONGEST_WINDOW:
            raise ConfigError("a window for a whole tool is at most 60 minutes")

    def lasts(self, scope: Scope) -> timedelta:
        """For how long a rule of this scope holds."""
        if scope != "tool-window":
            return self.remember_for
        return min(self.window, self.remember_for)


def span(length: timedelta, words: AlwaysWords = ENGLISH) -> str:
    """A length of time in words."""
    seconds = round(length.total_seconds())
    for unit, size in ((words.days, 86_400), (words.hours, 3_600), (words.minutes, 60)):
        if seconds >= size and seconds % size == 0:
            return unit.of(seconds // size)
    return words.minutes.of(seconds // 60) if seconds >= 600 else words.seconds.of(seconds)
