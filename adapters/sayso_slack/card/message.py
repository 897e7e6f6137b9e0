"""Messages of Slack: laid out for one card, or with a line for each of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sayso.cards.card import Card
from sayso_slack.card.blocks import card_message
from sayso_slack.card.bundle import bundle_message
from sayso_slack.card.called import calling


def message(cards: Sequence[Card]) -> dict[str, Any]:
    """What chat.postMessage and chat.update are told to make a message show these cards."""
    shown = card_message(cards[0]) if len(cards) == 1 else bundle_message(cards)
    # Below the title: who is called must not be below the fold, where Slack cuts long messages.
    shown["blocks"][1:1] = calling(cards)
    return shown
