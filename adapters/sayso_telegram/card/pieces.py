"""Messages made of pieces, the least important of which give way when there is no room."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from gettext import NullTranslations
from typing import NamedTuple

from sayso.formats import formats_of
from sayso.text.visible import Ranked, cut_by_rank, on_one_line, parts_of
from sayso_telegram.card.formatted import Formatted, Look, Part, fitted, plain_extra, sound, units

# sendMessage, text: 1-4096 characters after entities parsing. Telegram does not
# say which characters; UTF-16 code units are the strictest reading.
MOST_UNITS = 4096
_LEAST_UNITS = 24
_LONGEST_LABEL = 24


class Piece(NamedTuple):
    """A part that gives way when the message is too long; those with the highest rank first.

    A piece of rank 0 is never cut.
    """

    part: Part
    rank: int = 0


def own(words: str, look: Look = Look.PLAIN) -> Piece:
    """Words of our own: never cut."""
    return Piece(Part(words, look))


def line(text: str, *, rank: int) -> Piece:
    """Anybody's words on one line: code, and therefore neither a mention, a link nor a tag."""
    return Piece(Part(sound(on_one_line(text)), Look.CODE), rank)


def moment(at: datetime, translations: NullTranslations) -> Piece:
    """A moment that every reader sees in their own time; older apps show it as it is written."""
    return Piece(Part(formats_of(translations).time(at), Look.MOMENT, at=at))


def label(text: str, *, rank: int) -> Piece:
    """What a fact is called: plain if nothing in it can come alive, a line of code otherwise."""
    looks_plain = len(text) <= _LONGEST_LABEL and text.replace(" ", "").isalpha()
    return Piece(Part(sound(text)), rank) if looks_plain else line(text, rank=rank)


def spread(template: str, look: Look = Look.PLAIN, /, **gaps: Piece) -> Iterator[Piece]:
    """Words of our own with these pieces in their gaps."""
    for words, gap in parts_of(template):
        if words:
            yield own(words, look)
        if gap:
            yield gaps[gap]


def fitting(pieces: list[Piece], translations: NullTranslations) -> Formatted:
    """The pieces as one message, cut where they must be, each to a readable rest.

    Raises:
        ValueError: it is too long for Telegram even so.
    """
    parts = tuple([piece.part for piece in pieces])
    whole = sum([units(part.text) for part in parts])
    over = (
        whole
        + plain_extra(parts, translations.gettext("Written by the agent, from here to the end:"))
        - MOST_UNITS
    )
    if over <= 0:
        return Formatted(parts, translations.gettext("Written by the agent, from here to the end:"))
    ranked = [Ranked(piece.part.text, piece.rank) for piece in pieces]
    texts, over = cut_by_rank(ranked, over, least=_LEAST_UNITS, size=units, cut=fitted)
    if over:
        raise ValueError(f"the card is {over} UTF-16 code units too long for Telegram")
    cut = zip(parts, texts, strict=True)
    return Formatted(
        tuple([part._replace(text=text) for part, text in cut]),
        translations.gettext("Written by the agent, from here to the end:"),
    )
