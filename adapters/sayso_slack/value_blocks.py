"""The parts of Block Kit that cards are made of: texts that Slack shows and never parses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from gettext import NullTranslations
from itertools import groupby
from typing import Any

from sayso.cards.called import Called
from sayso.cards.card import Card, Choice
from sayso.formats import formats_of
from sayso.text.visible import one_line
from sayso.values import Value

Block = dict[str, Any]

CHUNK = 2_900
"""Characters of one text; docs.slack.dev, text object: 3,000."""

BUTTON = 75  # docs.slack.dev, button element

_LEAST = CHUNK * 2 // 3


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


def value_parts(values: Iterable[Value]) -> Iterator[Block]:
    """The values in order; short ones share a section, a line each.

    Names are bold and texts are code or in boxes: wherever a line is wrapped, none that
    begins with a text of an agent's looks like one that begins with a name.
    """
    for is_short, some in groupby(values, key=lambda value: value.is_short):
        if is_short:
            yield section(*_lines(some))
        else:
            for value in some:
                yield from _box(value)


def _lines(values: Iterable[Value]) -> Iterator[Block]:
    for number, value in enumerate(values):
        yield literal(f"{chr(10) if number else ''}{value.name} ", bold=True)
        yield code(value.text)


def _box(value: Value) -> Iterator[Block]:
    heading = [literal(value.name, bold=True)] if value.name else []
    if value.note:
        heading.append(literal(f" · {value.note}" if heading else value.note))
    if heading:
        yield section(*heading)
    if value.text:
        yield preformatted(value.text)


_PERSON = re.compile(r"slack:([UW][A-Z0-9]{2,30})", re.ASCII)
_GROUP = re.compile(r"slack:(S[A-Z0-9]{2,30})", re.ASCII)
_NOTE = 200


def build_call_line(cards: Sequence[Card]) -> list[Block]:
    """Mention everybody whom these cards call, once, or say why nobody is called."""
    people = list({one.actor: one for card in cards for one in card.call.people}.values())
    lead = next((card.call.lead for card in cards if card.call.people), "")
    blocks = [rich_text(section(literal(f"👋 {lead}"), *build_mentions(people)))] if people else []
    # Cards of one message went one way: what is said of the first is said of all.
    if note := next((card.call.note for card in cards if card.call.note), ""):
        blocks.append(context(plain_text(f"🌙 {one_line(note, _NOTE)}")))
    return blocks


def build_mentions(people: Sequence[Called]) -> Iterator[Block]:
    """Each of them, with a space before. docs.slack.dev, rich text block: user, usergroup."""
    for one in people:
        if match := _PERSON.fullmatch(one.actor):
            yield literal(" ")
            yield {"type": "user", "user_id": match[1]}
        elif match := _GROUP.fullmatch(one.actor):
            yield literal(" ")
            yield {"type": "usergroup", "usergroup_id": match[1]}


def chunks(text: str) -> Iterator[str]:
    """The text in pieces of at most 2,900 characters, ended at line ends where possible."""
    start = 0
    while start < len(text):
        end = start + CHUNK
        if end < len(text):
            # A line end in the first two thirds would make the pieces small, and too many.
            line_end = text.rfind("\n", start + _LEAST, end)
            end = line_end + 1 if line_end != -1 else end
        yield text[start:end]
        start = end


def button_label(choice: Choice) -> str:
    """The words on a button. docs.slack.dev, button element: 75 characters."""
    return one_line(choice.label, BUTTON, otherwise=choice.key)
