"""How much of a card one place shows."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.cards.card import DESCRIPTION_LIMIT, LONGEST_STORED
from sayso.values.screen import UNLIMITED


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
