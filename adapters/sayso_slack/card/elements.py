"""The parts of Block Kit that cards are made of: texts that Slack shows and never parses."""

from __future__ import annotations

from datetime import datetime
from gettext import NullTranslations
from typing import Any

from sayso.formats import formats_of

Block = dict[str, Any]


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


def code(text: str) -> Block:
    """Anybody's words within a line: set as code, as no words of ours are."""
    return {"type": "text", "text": text, "style": {"code": True}}


def local_time(moment: datetime, translations: NullTranslations) -> str:
    """Markup that every reader sees in their own time zone.

    docs.slack.dev, formatting message text, date formatting.
    """
    shown = translations.gettext("{date} at {time}").format(
        date="{date_short_pretty}", time="{time}"
    )
    return f"<!date^{int(moment.timestamp())}^{shown}|{formats_of(translations).time(moment)}>"


def moment(at: datetime, translations: NullTranslations) -> Block:
    """A time in the reader's own zone. docs.slack.dev, rich text block: date."""
    return {
        "type": "date",
        "timestamp": int(at.timestamp()),
        "format": translations.gettext("{date} at {time}").format(
            date="{date_short_pretty}", time="{time}"
        ),
        "fallback": formats_of(translations).time(at),
    }
