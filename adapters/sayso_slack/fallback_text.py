"""The text beside the blocks: what notifications show and screen readers read."""

from __future__ import annotations

from sayso.cards.card import Card
from sayso.cards.plain_text import plain_lines
from sayso_slack.value_blocks import button_label

TEXT_LIMIT = 3_900
"""docs.slack.dev, chat.update: more than 4,000 characters of text are refused (msg_too_long)."""


def fallback_text(card: Card) -> str:
    """The card in words, the most important first, and nothing in it that Slack would parse."""
    return escape_text("\n".join(plain_lines(card, label=button_label)), TEXT_LIMIT)


def escape_text(text: str, limit: int) -> str:
    """At most ``limit`` characters that Slack shows as this text; a cut one ends in ``…``.

    docs.slack.dev, formatting message text: only ``& < >`` need an escape.
    Escapes are never cut in two.
    """
    if len(whole := _escape_markup(text)) <= limit:
        return whole
    pieces: list[str] = []
    room = limit
    for character in text:
        piece = _escape_markup(character)
        room -= len(piece)
        if room < 1:
            break
        pieces.append(piece)
    return "".join(pieces) + "…"


def _escape_markup(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
