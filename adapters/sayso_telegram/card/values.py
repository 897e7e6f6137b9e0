"""Values as pieces of a message: each name bold, each text as code beside it or in a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sayso.values import Kind, Value
from sayso_telegram.card.formatted import Look, Part, sound
from sayso_telegram.card.pieces import Piece

_LANGUAGES: dict[Kind, str] = {
    "shell": "shell",
    "sql": "sql",
    "json": "json",
    "yaml": "yaml",
    "http": "http",
    "diff": "diff",
}


def value_pieces(values: Iterable[Value]) -> Iterator[Piece]:
    """The values in order, each on lines of its own, begun by a line break.

    Names are bold and texts are code or blocks: wherever a line is wrapped, none that
    begins with a text of an agent's looks like one that begins with a name.
    """
    for value in values:
        if value.name:
            yield _part(f"\n{value.name}", Look.BOLD)
        if value.note:
            yield _part(f" · {value.note}" if value.name else f"\n{value.note}")
        yield _part(" " if value.is_short else "\n")
        if value.is_short:
            yield _part(sound(value.text), Look.CODE)
        else:
            language = _LANGUAGES.get(value.kind, value.language)
            yield Piece(Part(sound(value.text), Look.BLOCK, language=language, is_value=True))


def _part(text: str, look: Look = Look.PLAIN) -> Piece:
    return Piece(Part(text, look, is_value=True))
