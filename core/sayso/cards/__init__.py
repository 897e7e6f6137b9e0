"""Cards: a question as a person sees it, before any platform renders it.

What is on one card, and what several on one message have in common. Who makes a card of a request
stands in ``questions``; who shows it, in ``desk``.
"""

from typing import TYPE_CHECKING

from sayso.later import later

if TYPE_CHECKING:
    from sayso.cards.bundle import Bundle
    from sayso.cards.card import BACK, MORE, SHOW_ALL, Card, CardBody, Choice, Ended
    from sayso.cards.plain_text import plain_lines
    from sayso.cards.truncation import Room
    from sayso.values import Kind, Value, one_value

__all__ = [
    "BACK",
    "MORE",
    "SHOW_ALL",
    "Bundle",
    "Card",
    "CardBody",
    "Choice",
    "Ended",
    "Kind",
    "Room",
    "Value",
    "one_value",
    "plain_lines",
]

if not TYPE_CHECKING:  # where another name is a mistake
    __getattr__, __dir__ = later(
        globals(),
        {
            "sayso.cards.bundle": ("Bundle",),
            "sayso.cards.card": ("BACK", "MORE", "SHOW_ALL", "Card", "CardBody", "Choice", "Ended"),
            "sayso.cards.plain_text": ("plain_lines",),
            "sayso.cards.truncation": ("Room",),
            "sayso.values": ("Kind", "Value", "one_value"),
        },
    )
