"""What was answered, on the card that is done: literal, and cut where a message has no room."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.text.visible import shortened, visible
from sayso_slack.card.elements import Block, literal, one_line, quote, section

Facts = tuple[tuple[str, str], ...]

ROOM = 3_000
"""Characters of all answers together. A card that is done has no buttons: theirs are free."""

_MOST = 20
_LABEL = 60
_NOTE = 60
_ONE_LINE = 200


def told(facts: Facts) -> Iterator[Block]:
    """The parts of a rich text that show each answer with its label.

    They are set apart by a bar, so that no line of an answer and no label looks
    like one of the card. What is cut says of how many characters.
    """
    shown = facts if len(facts) <= _MOST else facts[: _MOST - 1]
    left = ROOM - (_LABEL + _NOTE) * len(shown)
    # The short ones first: what they leave over is for the long ones.
    rooms: dict[int, int] = {}
    by_length = sorted(range(len(shown)), key=lambda number: len(visible(shown[number][1])))
    for done, number in enumerate(by_length):
        rooms[number] = min(left // (len(shown) - done), len(visible(shown[number][1])))
        left -= rooms[number]
    for number, (label, text) in enumerate(shown):
        yield _told(one_line(label, _LABEL), visible(text), rooms[number])
    if len(facts) > len(shown):
        yield section(literal(f"{len(facts) - len(shown)} more answers are not shown here."))


def _told(label: str, text: str, room: int) -> Block:
    note = f" (cut, {len(text):,} characters in all)" if len(text) > room else ""
    words = shortened(text, room) or "–"
    space = "\n" if "\n" in words or len(words) > _ONE_LINE else " "
    return quote(literal(f"{label}{note}{space}", bold=True), literal(words))
