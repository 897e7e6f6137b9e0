"""What a card says of what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.cards.card import Card, Ended
from sayso.cards.words import CardWords
from sayso.values.screen import Hidden, OnScreen

_MOST_NAMED = 2


def cut_notice(card: Card) -> str:
    """What to say of a cut, empty where nothing is missing."""
    if not card.is_cut:
        return ""
    words = card.words
    missing = "; ".join(_missing(card))
    if isinstance(card.state, Ended):
        return f"{missing}."
    template = words.press_first
    if not card.can_reveal:
        template = words.too_long
    elif card.revealed:
        template = words.see_all
    granted = card.body.granted or words.granted
    return template.format(missing=missing, show_all=words.show_all, granted=granted)


def _missing(card: Card) -> Iterator[str]:
    shown = card.on_screen
    if not shown.is_whole:
        yield left_out(shown, card.words)
    if card.description != card.body.description:
        yield card.words.cut_description


def left_out(shown: OnScreen, words: CardWords) -> str:
    """How much of which values is missing; of more than two, how many there are."""
    parts = [_hidden_words(hidden, words) for hidden in shown.hidden[:_MOST_NAMED]]
    if others := len(shown.hidden[_MOST_NAMED:]) + shown.dropped:
        parts.append(words.more_values.of(others))
    return words.cut_content.format(parts=", ".join(parts))


def _hidden_words(hidden: Hidden, words: CardWords) -> str:
    lines, characters = words.hidden_lines.of(hidden.lines), words.hidden_characters
    gaps = {"lines": lines, "characters": characters.of(hidden.characters), "name": hidden.name}
    return (words.hidden_of if hidden.name else words.hidden).format(**gaps)
