"""On which terms Always remembers: for how long, and how far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from gettext import NullTranslations
from typing import TYPE_CHECKING

from sayso.errors import ConfigError
from sayso.locales import ENGLISH
from sayso.rules.rule import Scope
from sayso.text.visible import format_count

if TYPE_CHECKING:
    from sayso.cards.card import Choice

LONGEST_WINDOW = timedelta(minutes=60)
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60


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

    def lengths(self, choice: Choice, translations: NullTranslations = ENGLISH) -> Choice | None:
        """The choice as these terms allow it: for how long it holds, or could hold instead.

        None where they allow nothing of it. The first that they allow is the choice
        itself, the others are its ``longer`` ones.
        """
        allowed = [one for one in (choice, *choice.longer) if one.scope in self.scopes]
        timed = [self._timed(one, translations) for one in allowed]
        # Two of one length in one place are the same.
        found = list({(one.scope, one.lasts): one for one in reversed(timed)}.values())[::-1]
        if not found:
            return None
        first, *longer = found
        if not longer:
            return replace(first, longer=())
        spans = translations.gettext(" or ").join(
            span(one.lasts, translations) for one in longer if one.lasts
        )
        said = translations.gettext("; or {}, for {}").format(longer[0].place, spans)
        return replace(
            _named(first, translations),
            longer=tuple(_named(one, translations) for one in longer),
            longer_said=said,
        )

    def _timed(self, choice: Choice, translations: NullTranslations) -> Choice:
        lasts, label = self.lasts(choice), choice.label
        how_long = span(lasts, translations)
        if choice.scope == "tool-window":
            label = translations.gettext("{} for {}").format(label, how_long)
        stores, briefly = (
            translations.gettext("{}, for {}").format(said, how_long) if said else ""
            for said in (choice.stores, choice.stores_briefly)
        )
        return replace(choice, label=label, stores=stores, stores_briefly=briefly, lasts=lasts)


def _named(choice: Choice, translations: NullTranslations) -> Choice:
    """The choice with what its button says among others of other lengths."""
    how_long = span(choice.lasts or timedelta(0), translations)
    text = translations.gettext("This session, {}")
    if choice.scope == "project":
        text = translations.gettext("This project, {}")
    elif choice.for_run:
        text = translations.gettext("This run, {}")
    return replace(choice, step=text.format(how_long))


def span(length: timedelta, translations: NullTranslations = ENGLISH) -> str:
    """Write out a length of time."""
    seconds = round(length.total_seconds())
    for unit in (_DAY, _HOUR, _MINUTE):
        if seconds >= unit and seconds % unit == 0:
            return _format_units(seconds // unit, unit, translations)
    unit = _MINUTE if seconds >= 600 else 1
    return _format_units(seconds // unit, unit, translations)


def about(length: timedelta, translations: NullTranslations = ENGLISH) -> str:
    """Write out about how long that is: in the largest unit of which there are two."""
    seconds = round(length.total_seconds())
    for unit in (_DAY, _HOUR, _MINUTE):
        if (count := round(seconds / unit)) >= (1 if unit == _MINUTE else 2):
            return _format_units(count, unit, translations)
    return _format_units(seconds, 1, translations)


def _format_units(count: int, unit: int, translations: NullTranslations) -> str:
    if unit == _DAY:
        return format_count(translations, "{count} day", "{count} days", count)
    if unit == _HOUR:
        return format_count(translations, "{count} hour", "{count} hours", count)
    if unit == _MINUTE:
        return format_count(translations, "{count} minute", "{count} minutes", count)
    return format_count(translations, "{count} second", "{count} seconds", count)
