"""Cards: a question as a person sees it, before any platform renders it.

What is on one card, and what several on one message have in common. Who makes a card of a request
stands in ``questions``; who shows it, in ``desk``.
"""

from sayso.cards.bundle import Bundle
from sayso.cards.card import BACK, MORE, SHOW_ALL, Card, CardBody, Choice, Ended
from sayso.cards.plain import plain_lines
from sayso.cards.room import Room
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
