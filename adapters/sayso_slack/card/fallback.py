"""The text beside the blocks: what notifications show and screen readers read."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.cards.card import Card, Ended
from sayso_slack.card.elements import one_line, utc_text
from sayso_slack.card.presentable import button_label

OUTCOME_ICONS = {
    "approved": "✅",
    "denied": "⛔",
    "expired": "⌛",
    "cancelled": "🚫",
    "answered": "💬",
    "undeliverable": "📭",
}

TEXT_LIMIT = 3_900
"""docs.slack.dev, chat.update: more than 4,000 characters of text are refused (msg_too_long)."""

_MOST_TOLD = 8

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def fallback_text(card: Card) -> str:
    """The card in words, the most important first, and nothing in it that Slack would parse."""
    return escaped("\n".join(_lines(card)), TEXT_LIMIT)


def escaped(text: str, limit: int) -> str:
    """At most ``limit`` characters that Slack shows as this text; a cut one ends in ``…``.

    docs.slack.dev, formatting message text: only ``& < >`` need an escape.
    Escapes are never cut in two.
    """
    if len(whole := text.translate(_ESCAPES)) <= limit:
        return whole
    pieces: list[str] = []
    room = limit
    for character in text:
        piece = character.translate(_ESCAPES)
        room -= len(piece)
        if room < 1:
            break
        pieces.append(piece)
    return "".join(pieces) + "…"


def _lines(card: Card) -> Iterator[str]:
    if isinstance(card.state, Ended):
        yield from _ending(card, card.state)
    else:
        yield f"{card.asker} asks: {card.body.title}"
        labels = ", ".join(button_label(choice) for choice in card.choices)
        choices = f" Buttons: {labels}." if labels else ""
        yield f"Expires {utc_text(card.expires_at)}.{choices}"
    yield from _barred(card.content)
    if card.cut_notice:
        yield card.cut_notice
    if card.description:
        yield f"{card.body.described}:"
        yield from _barred(card.description)
    yield from (f"{label}: {value}" for label, value in card.body.facts)
    if card.body.digest:
        yield f"Digest {card.body.digest}"


def _barred(text: str) -> Iterator[str]:
    """Lines of the agent's, with a bar so that none looks like one of the card."""
    return (f"| {line}" for line in text.split("\n") if text)


def _ending(card: Card, ended: Ended) -> Iterator[str]:
    by = f" by {one_line(ended.who, 120)}" if ended.who else ""
    icon = OUTCOME_ICONS.get(ended.outcome, "•")
    word = one_line(ended.outcome, 30).capitalize()
    yield f"{icon} {word}{by}: {card.body.title}"
    yield f"Asked by {card.asker}. Ended {utc_text(ended.at)}."
    if ended.reason:
        yield f"Reason: {one_line(ended.reason, 300)}"
    if ended.stored:
        yield f"Remembered: {one_line(ended.stored, 300)}"
    for label, text in ended.facts[:_MOST_TOLD]:
        yield f"| {one_line(label, 60)}: {one_line(text, 300)}"
    if len(ended.facts) > _MOST_TOLD:
        yield f"{len(ended.facts) - _MOST_TOLD} more answers are not told here."
