"""On which terms Always remembers: for how long, and how far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.always.words import ENGLISH, AlwaysWords
from sayso.errors import ConfigError
from sayso.rules.rule import Scope

if TYPE_CHECKING:
    from sayso.cards.card import Choice

LONGEST_WINDOW = timedelta(minutes=60)


@dataclass(frozen=True, slots=True)
class GrantOptions:
    """What may be stored by a press, and until when it holds.

    ``scopes`` are those that are offered at all; without any, nothing can be
    remembered. A ``tool-window`` lasts for ``window``, everything else for
    ``remember_for``; what is stored for a project may also be kept for ``project_for``.
    ``project`` is only offered where the agent names one.

    Raises:
        ConfigError: a duration is not more than zero, or the window is longer
            than 60 minutes.
    """

    remember_for: timedelta = timedelta(hours=24)
    scopes: frozenset[Scope] = frozenset({"session", "project"})
    window: timedelta = timedelta(minutes=15)
    project_for: timedelta = timedelta(days=30)

    def __post_init__(self) -> None:
        if min(self.remember_for, self.window, self.project_for) <= timedelta(0):
            raise ConfigError("what is remembered must last for more than 0 seconds")
        if self.window > LONGEST_WINDOW:
            raise ConfigError("a window for a whole tool is at most 60 minutes")

    def lasts(self, choice: Choice) -> timedelta:
        """For how long what the choice stores holds, from the moment it is chosen."""
        if choice.for_long:
            return self.project_for
        longest = {"tool-window": self.window, "project": self.project_for}
        return min(longest.get(choice.scope, self.remember_for), self.remember_for)

    def lengths(self, choice: Choice, words: AlwaysWords = ENGLISH) -> Choice | None:
        """The choice as these terms allow it: for how long it holds, or could hold instead.

        None where they allow nothing of it. The first that they allow is the choice
        itself, the others are its ``longer`` ones.
        """
        allowed = [one for one in (choice, *choice.longer) if one.scope in self.scopes]
        timed = [self._timed(one, words) for one in allowed]
        # Two of one length in one place are the same.
        found = list({(one.scope, one.lasts): one for one in reversed(timed)}.values())[::-1]
        if not found:
            return None
        first, *longer = found
        if not longer:
            return replace(first, longer=())
        spans = words.either_span.join(span(one.lasts, words) for one in longer if one.lasts)
        said = words.or_longer.format(longer[0].place, spans)
        return replace(
            _named(first, words),
            longer=tuple(_named(one, words) for one in longer),
            longer_said=said,
        )

    def _timed(self, choice: Choice, words: AlwaysWords) -> Choice:
        lasts, label = self.lasts(choice), choice.label
        how_long = span(lasts, words)
        if choice.scope == "tool-window":
            label = words.for_time.format(label, how_long)
        stores, briefly = (
            words.stored_for.format(said, how_long) if said else ""
            for said in (choice.stores, choice.stores_briefly)
        )
        return replace(choice, label=label, stores=stores, stores_briefly=briefly, lasts=lasts)


def _named(choice: Choice, words: AlwaysWords) -> Choice:
    """The choice with what its button says among others of other lengths."""
    how_long = span(choice.lasts or timedelta(0), words)
    session = words.this_run if choice.for_run else words.this_session
    called = words.this_project if choice.scope == "project" else session
    return replace(choice, step=called.format(how_long))


def span(length: timedelta, words: AlwaysWords = ENGLISH) -> str:
    """A length of time in words."""
    seconds = round(length.total_seconds())
    for unit, size in ((words.days, 86_400), (words.hours, 3_600), (words.minutes, 60)):
        if seconds >= size and seconds % size == 0:
            return unit.of(seconds // size)
    return words.minutes.of(seconds // 60) if seconds >= 600 else words.seconds.of(seconds)


def about(length: timedelta, words: AlwaysWords = ENGLISH) -> str:
    """About how long that is: in the largest unit of which there are two."""
    seconds = round(length.total_seconds())
    for unit, size in ((words.days, 86_400), (words.hours, 3_600), (words.minutes, 60)):
        if (count := round(seconds / size)) >= (1 if size == 60 else 2):
            return unit.of(count)
    return words.seconds.of(seconds)
