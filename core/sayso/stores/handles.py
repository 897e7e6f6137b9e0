"""Handles of cards: random, and with the cell that their request lives in before them."""

from __future__ import annotations

from sayso.calls import new_id

ONLY_CELL = "00"
"""The cell of a store that is not made of several."""

_CELL = 2
_LENGTH = _CELL + 23


def new_handle(cell: str = ONLY_CELL) -> str:
    """A handle for a card of a request that lives in this cell."""
    return cell + new_id()


def cell_in(handle: str) -> str:
    """The cell that a handle leads to; empty for one that names none."""
    return handle[:_CELL] if len(handle) == _LENGTH else ""
