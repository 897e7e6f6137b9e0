"""Cards: a question as a person sees it, before any platform renders it.

What is on one card, and what several on one message have in common. Who makes a card of a request
stands in ``questions``; who shows it, in ``desk``.
"""

from sayso.cards.card import CardBody, Choice

__all__ = ["CardBody", "Choice"]
