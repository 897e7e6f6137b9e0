"""A card on a screen: its lines as a client wraps them, and how each of them begins."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

WIDTHS = (320, 390, 1_280)
"""Pixels of a small phone, of a usual one, and of a desk."""

_TEXT, _CODE, _HEADER, _SMALL = 15.0, 13.0, 18.0, 13.0
_MONO = ("code", "pre", "box")


@dataclass(frozen=True)
class Leaf:
    """A piece of text with one look: where it stands, and its style."""

    text: str
    look: tuple[str, str]


@dataclass(frozen=True)
class Line:
    """A line of the screen: the piece that it begins with, and its text."""

    begins: Leaf
    text: str


def slack_lines(message: dict[str, Any], width: int) -> list[Line]:
    """The lines of a message in Slack; what the client draws around them is not text."""
    room = width - 100
    found: list[Line] = []
    for block in message["blocks"]:
        for leaves, frame in _slack_paragraphs(block):
            found += _wrapped(leaves, room - frame)
    return found


def telegram_lines(text: str, entities: Sequence[Any], width: int) -> list[Line]:
    """The lines of a message in Telegram; a bubble is at most 540 pixels wide."""
    room = min(width - 66, 540) - 24
    paragraph: list[Leaf] = []
    found: list[Line] = []
    for leaf in _telegram_leaves(text, entities):
        if leaf.look[0] == "pre":
            found += [*_wrapped(paragraph, room), *_wrapped([leaf], room - 24)]
            paragraph = []
        else:
            paragraph.append(leaf)
    return found + _wrapped(paragraph, room)


def height(lines: Iterable[Line]) -> float:
    """How many pixels the lines take, boxes without their edges."""
    sizes = {"header": 24.0, "context": 19.0}
    return sum(sizes.get(line.begins.look[0], 21.0) for line in lines)


def _slack_paragraphs(block: dict[str, Any]) -> Iterator[tuple[list[Leaf], int]]:
    kind = block["type"]
    if kind == "header":
        yield [Leaf(block["text"]["text"], ("header", ""))], 0
    elif kind == "context":
        yield [Leaf(part["text"], ("context", "")) for part in block["elements"]], 0
    elif kind == "rich_text":
        for part in block["elements"]:
            where = {"rich_text_preformatted": "box", "rich_text_quote": "quote"}
            place = where.get(part["type"], "section")
            leaves = [
                Leaf(one.get("text", "?"), (place, "".join(sorted(one.get("style", {})))))
                for one in part["elements"]
            ]
            yield leaves, {"box": 24, "quote": 14}.get(place, 0)


def _telegram_leaves(text: str, entities: Sequence[Any]) -> Iterator[Leaf]:
    raw = text.encode("utf-16-le")
    at = 0
    for entity in sorted(entities, key=lambda one: one.offset):
        yield Leaf(raw[2 * at : 2 * entity.offset].decode("utf-16-le"), ("text", ""))
        end = entity.offset + entity.length
        kind = str(getattr(entity.type, "value", entity.type))
        place = "pre" if kind == "pre" else "text"
        yield Leaf(raw[2 * entity.offset : 2 * end].decode("utf-16-le"), (place, kind))
        at = end
    yield Leaf(raw[2 * at :].decode("utf-16-le"), ("text", ""))


def _wrapped(leaves: Sequence[Leaf], room: float) -> list[Line]:
    """The lines of a paragraph: broken between words, and within one that is longer than a line."""
    lines: list[Line] = []
    begins: Leaf | None = None
    text, used = "", 0.0
    for leaf in leaves:
        for word in re.findall(r"\n|[^\S\n]+|[^\s]+", leaf.text):
            if word == "\n":
                if begins is not None:
                    lines.append(Line(begins, text))
                begins, text, used = None, "", 0.0
                continue
            size = _width(word, leaf.look)
            if begins is not None and used + size > room and not word.isspace():
                lines.append(Line(begins, text))
                begins, text, used = None, "", 0.0
            for character in word:
                size = _width(character, leaf.look)
                if begins is not None and used + size > room:
                    lines.append(Line(begins, text))
                    begins, text, used = None, "", 0.0
                if begins is None and character.isspace():
                    continue  # a blank at a line's end hangs over
                begins = begins or leaf
                text, used = text + character, used + size
    if begins is not None:
        lines.append(Line(begins, text))
    return lines


def _width(text: str, look: tuple[str, str]) -> float:
    if look[1] in _MONO or look[0] in _MONO:
        return sum(_CODE * (1.0 if _is_wide(one) else 0.6) for one in text)
    size = {"header": _HEADER, "context": _SMALL}.get(look[0], _TEXT)
    return sum(size * _share(one) for one in text)


def _share(character: str) -> float:
    if _is_wide(character):
        return 1.0
    if character in "iljtfr.,:;|!'()[] ":
        return 0.3
    return 0.85 if character in "mwMW@" else 0.65 if character.isupper() else 0.53


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"
