"""The parts of Block Kit that cards are made of: texts that Slack shows and never parses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sayso.text.visible import shortened, visible

Block = dict[str, Any]


def one_line(text: str, limit: int, *, otherwise: str = "–") -> str:
    """The text on one line of 1 to ``limit`` characters, nothing in it invisible."""
    return shortened(visible(text, one_line=True).strip(), limit) or otherwise


def plain_text(text: str) -> Block:
    """A text object that is never parsed: no markup, mention, link or :emoji: in it."""
    return {"type": "plain_text", "text": text, "emoji": False}


def own_markup(text: str) -> Block:
    """Slack's markup, for constant words of our own and for times; never for anybody's data."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def context(*elements: Block) -> Block:
    """Small print. docs.slack.dev, context block: at most 10 elements."""
    return {"type": "context", "elements": list(elements)}


def rich_text(*parts: Block) -> Block:
    """A block of literal text: Slack parses nothing in it."""
    return {"type": "rich_text", "elements": list(parts)}


def section(*elements: Block) -> Block:
    """Running text of a rich text block."""
    return {"type": "rich_text_section", "elements": list(elements)}


def quote(*elements: Block) -> Block:
    """Text set apart by a bar at its left, so that no line of it looks like one of the card."""
    return {"type": "rich_text_quote", "elements": list(elements)}


def preformatted(text: str) -> Block:
    """Text in a box, as it is; backticks cannot end it."""
    return {"type": "rich_text_preformatted", "elements": [literal(text)]}


def literal(text: str, *, bold: bool = False) -> Block:
    """A piece of a rich text."""
    piece: Block = {"type": "text", "text": text}
    return {**piece, "style": {"bold": True}} if bold else piece


def utc_text(moment: datetime) -> str:
    """A time in plain words."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def local_time(moment: datetime) -> str:
    """Markup that every reader sees in their own time zone.

    docs.slack.dev, formatting message text, date formatting.
    """
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}} at {{time}}|{utc_text(moment)}>"
