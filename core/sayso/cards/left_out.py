"""What a card says of what it leaves out, and how a value stands on the page with everything."""

from __future__ import annotations

from sayso.cards.words import CardWords
from sayso.values.screen import Hidden, OnScreen
from sayso.values.value import Value, headed, unheaded

_MOST_NAMED = 2


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


def on_page(value: Value) -> str:
    """A value below its name, which nothing in a text can look like."""
    heading = " · ".join(filter(None, (value.name, value.note)))
    return headed(heading, value.text) if heading else unheaded(value.text)
