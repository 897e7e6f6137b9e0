"""What of some values a screen holds, and what is left out, counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sayso.values.value import Value

UNLIMITED = 1_000_000
"""More lines than anything has."""

NARROW = 34
"""Columns of a phone of 390 pixels, within the box of a value."""

_LEAST_LINES = 3
_CUT = "…"
_BETWEEN = 2  # a name and its text


@dataclass(frozen=True, slots=True)
class Room:
    """How much a place shows: characters, and lines of so many columns."""

    characters: int
    lines: int = UNLIMITED
    columns: int = NARROW


@dataclass(frozen=True, slots=True)
class Hidden:
    """What of one value is not shown: the rest of its characters, in so many lines."""

    name: str
    characters: int
    lines: int


@dataclass(frozen=True, slots=True)
class OnScreen:
    """Values as far as there is room; ``hidden`` says of which there is more, ``dropped`` how
    many are not there at all.
    """

    values: tuple[Value, ...]
    hidden: tuple[Hidden, ...] = ()
    dropped: int = 0

    @property
    def is_whole(self) -> bool:
        """True if all of it is shown."""
        return not (self.hidden or self.dropped)


def on_screen(values: Sequence[Value], room: Room) -> OnScreen:
    """The values whole where they fit, and otherwise as much of each as there is room for.

    The short ones first: what they leave is for the long ones.
    """
    if fit(values, room):
        return OnScreen(tuple(values))
    if min(room.characters, room.lines) <= 0:
        return OnScreen((), dropped=len(values))
    kept = _kept(values, room)
    left = Room(room.characters, room.lines, room.columns)
    shown: dict[int, Value] = {}
    hidden: dict[int, Hidden] = {}
    sizes = {n: (lines_of(values[n], room), _characters(values[n])) for n in range(kept)}
    for done, number in enumerate(sorted(sizes, key=lambda n: sizes[n])):
        value, others = values[number], kept - done
        share = Room(left.characters // others, max(left.lines // others, 1), room.columns)
        if not fit([value], share):
            value = _cut(value, share)
            hidden[number] = _hidden(values[number], value)
        shown[number] = value
        left = Room(
            max(left.characters - _characters(value), 0),
            max(left.lines - lines_of(value, room), 0),
            room.columns,
        )
    return OnScreen(
        tuple(shown[number] for number in sorted(shown)),
        tuple(hidden[number] for number in sorted(hidden)),
        len(values) - kept,
    )


def fit(values: Sequence[Value], room: Room) -> bool:
    """Return True if all of the values are shown whole there."""
    if sum(map(_characters, values)) > room.characters:
        return False
    lines = 0
    for value in values:
        lines += lines_of(value, Room(room.characters, room.lines - lines, room.columns))
        if lines > room.lines:
            return False
    return True


def lines_of(value: Value, room: Room) -> int:
    """How many lines of a screen the value takes; no more are counted than there are and one."""
    if value.is_short:
        return rows(f"{value.name} {value.text}", room.columns, room.lines)
    beside = 2 if value.name else 1  # its name, and the edge of its box
    return beside + rows(value.text, room.columns, room.lines)


def rows(text: str, columns: int, most: int = UNLIMITED) -> int:
    """How many lines the text takes where it is wrapped; counted until there are too many."""
    count = 0
    for line in _split(text):
        count += max(1, -(-_width(line) // columns))
        if count > most:
            break
    return count


def beginning(text: str, room: Room) -> str:
    """The beginning of a text that has no room whole, up to the end of a line where possible."""
    end = max(room.characters, 0)
    whole = text[:end]
    line_end = whole.rfind("\n", end - end // 4) if len(text) > end else -1
    whole = whole[:line_end] if line_end > 0 else whole
    kept: list[str] = []
    left = room.lines
    for line in _split(whole):
        needed = max(1, -(-_width(line) // room.columns))
        if needed > left:
            if left > 0:
                kept.append(_first(line, left * room.columns))
            break
        kept.append(line)
        left -= needed
    return "\n".join(kept).rstrip()


def around(lines: Sequence[str], wanted: Collection[int]) -> str:
    """The first line, those that are wanted, and the one before each: the rest is left out."""
    kept = sorted({0, *wanted, *(number - 1 for number in wanted if number)})
    told: list[str] = []
    last = -1
    for number in kept:
        if number > last + 1:
            told.append(_CUT)
        told.append(lines[number])
        last = number
    return "\n".join(told if last + 1 == len(lines) else [*told, _CUT])


def _split(text: str) -> Iterator[str]:
    start = 0
    while (end := text.find("\n", start)) != -1:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _characters(value: Value) -> int:
    return len(value.text) + _beside(value)


def _beside(value: Value) -> int:
    beside = len(value.name) + len(value.note)
    return beside + _BETWEEN if beside else 0


def _kept(values: Sequence[Value], room: Room) -> int:
    """How many of the values, from the first on, there is any room for."""
    lines = characters = 0
    for number, value in enumerate(values):
        least = 1 if value.is_short else _LEAST_LINES + 1
        lines += min(least, lines_of(value, room))
        characters += min(len(value.text), room.columns) + _beside(value)
        if (lines > room.lines or characters > room.characters) and number:
            return number
    return len(values)


def _cut(value: Value, room: Room) -> Value:
    if value.brief and fit([short := replace(value, text=value.brief, brief="")], room):
        return short
    text = value.brief or value.text
    beside = 0 if value.is_short else 2 if value.name else 1
    left = Room(
        room.characters - _beside(value) - 2 * len(_CUT),
        max(room.lines - beside - 1, 0),
        room.columns,
    )
    begun = beginning(text, left)
    return replace(value, text=f"{begun}\n{_CUT}" if begun else _CUT, brief="")


def _hidden(whole: Value, cut: Value) -> Hidden:
    shown = cut.text.removesuffix(f"\n{_CUT}").removesuffix(_CUT)
    characters = len(whole.text) - len(shown)
    begun = sum(line != _CUT for line in shown.split("\n")) if shown else 0
    return Hidden(whole.name, max(characters, 1), max(whole.text.count("\n") + 1 - begun, 1))


def _width(text: str) -> int:
    if text.isascii():
        return len(text) + 3 * text.count("\t")
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide + 3 * text.count("\t")


def _first(text: str, columns: int) -> str:
    kept = text[:columns]
    while kept and _width(kept) > columns:
        kept = kept[: len(kept) - max((_width(kept) - columns) // 4, 1)]
    return kept
