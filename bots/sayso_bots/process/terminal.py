"""Text for terminals: tables, and colour only where it is wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TextIO

from sayso.text.visible import shortened, visible

_WIDEST = 48
_COLOURS = {"ok": "32", "warning": "33", "failed": "31"}


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, whole: Collection[str] = ()
) -> str:
    """Columns as wide as they must be; long cells are cut.

    Never those of the first column, and of the ``whole`` ones.
    """
    uncut = {head[0], *whole}
    cells = [
        [
            visible(cell, one_line=True) if name in uncut else _cut(cell)
            for name, cell in zip(head, row, strict=True)
        ]
        for row in (head, *rows)
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def wants_colour(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Return whether colour helps here: a terminal, and nobody said no."""
    return stream.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def colour_word(word: str, *, colour: bool) -> str:
    """``ok``, ``warning`` or ``failed``, in its colour."""
    code = _COLOURS.get(word)
    return f"\x1b[{code}m{word}\x1b[0m" if colour and code else word


def _cut(cell: str) -> str:
    return shortened(visible(cell, one_line=True), _WIDEST)
