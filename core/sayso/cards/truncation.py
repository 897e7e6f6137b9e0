"""The room for a card, and the notice that names the parts that are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from gettext import NullTranslations

from sayso.cards.card import DESCRIPTION_LIMIT, LONGEST_STORED, Card, Ended
from sayso.text.visible import format_count
from sayso.values.screen import UNLIMITED, Hidden, OnScreen


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters of its content and of its description one place shows of a card.

    ``lines`` is how many of a screen both may take, wrapped. ``stores`` is how much
    of what a choice would store can be said there in a second step, counted as the
    platform's limits count.
    """

    content: int
    description: int = DESCRIPTION_LIMIT
    stores: int = LONGEST_STORED
    lines: int = UNLIMITED


_MOST_NAMED = 2


def cut_notice(card: Card) -> str:
    """What to say of a cut, empty where nothing is missing."""
    if not card.is_cut:
        return ""
    translations = card.translations
    missing = "; ".join(_missing(card))
    if isinstance(card.state, Ended):
        return f"{missing}."
    show_all = translations.gettext("Show all")
    if not card.can_reveal:
        return translations.gettext(
            "{missing}. It is too long for this chat: it can only be denied here."
        ).format(missing=missing)
    if card.revealed:
        text = translations.gettext("{missing}. See it with {show_all}.")
        return text.format(missing=missing, show_all=show_all)
    text = translations.gettext("{missing}. Press {show_all} before it can be {granted}.")
    granted = card.body.granted or translations.gettext("allowed")
    return text.format(missing=missing, show_all=show_all, granted=granted)


def _missing(card: Card) -> Iterator[str]:
    shown = card.on_screen
    if not shown.is_whole:
        yield left_out(shown, card.translations)
    if card.description != card.body.description:
        yield card.translations.gettext("Not shown here: parts of the reason")


def left_out(shown: OnScreen, translations: NullTranslations) -> str:
    """How much of which values is missing; of more than two, how many there are."""
    parts = [_hidden_words(hidden, translations) for hidden in shown.hidden[:_MOST_NAMED]]
    if others := len(shown.hidden[_MOST_NAMED:]) + shown.dropped:
        parts.append(
            format_count(translations, "{count} more argument", "{count} more arguments", others)
        )
    return translations.gettext("Not shown here: {parts}").format(parts=", ".join(parts))


def _hidden_words(hidden: Hidden, translations: NullTranslations) -> str:
    lines = format_count(translations, "{count} more line", "{count} more lines", hidden.lines)
    characters = format_count(
        translations, "{count} character", "{count} characters", hidden.characters
    )
    if not hidden.name:
        return f"{lines} ({characters})"
    text = translations.gettext("{lines} of {name} ({characters})")
    return text.format(lines=lines, name=hidden.name, characters=characters)
