"""Everything that was asked, complete, in a dialog for one person."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sayso.cards.card import Card
from sayso.text.visible import one_line, visible
from sayso_slack.card.elements import (
    Block,
    code,
    literal,
    plain_text,
    preformatted,
    quote,
    rich_text,
    section,
)

REVEAL_LIMIT = 150_000
"""How many characters are worth trying. In chunks of 1,934 to 2,900 they make 78 blocks at most."""

VIEW_BYTES = 250_000
"""docs.slack.dev, views: 250 kB. How Slack counts is not said, so the longest JSON counts here."""

MOST_BLOCKS = 100
"""docs.slack.dev, views."""

_CHUNK = 2_900
_ON_A_LINE = 150
_LEAST = _CHUNK * 2 // 3


def everything_modal(card: Card) -> Block:
    """A view with all that is behind *Show all*; the boxes of a value join to exactly its text.

    docs.slack.dev, views: a title of 24 characters, 100 blocks; header block:
    150 characters.
    """
    header = {"type": "header", "text": plain_text(one_line(card.body.title, 150))}
    return {
        "type": "modal",
        "title": plain_text(one_line(card.translations.gettext("All that is asked"), 24)),
        "close": plain_text(one_line(card.translations.gettext("Close"), 24)),
        "blocks": [header, *_packed(_parts(card))],
    }


def fits(view: Block) -> bool:
    """Whether Slack takes the view for certain."""
    return len(view["blocks"]) <= MOST_BLOCKS and len(json.dumps(view)) <= VIEW_BYTES


def chunks(text: str) -> Iterator[str]:
    """The text in pieces of at most 2,900 characters, ended at line ends where possible."""
    start = 0
    while start < len(text):
        end = start + _CHUNK
        if end < len(text):
            # A line end in the first two thirds would make the pieces small, and too many.
            line_end = text.rfind("\n", start + _LEAST, end)
            end = line_end + 1 if line_end != -1 else end
        yield text[start:end]
        start = end


def _parts(card: Card) -> Iterator[Block]:
    """Names outside, texts in boxes, the agent's words behind a bar, as on the card."""
    for value in (*card.body.values, *card.body.raw):
        if heading := " · ".join(filter(None, (value.name, value.note))):
            yield section(literal(one_line(heading, 150), bold=True))
        yield from (preformatted(chunk) for chunk in chunks(visible(value.text)))
    if card.body.description:
        heading = card.translations.gettext("{described} by the agent:").format(
            described=card.described
        )
        yield section(literal(heading, bold=True))
        yield from (quote(literal(chunk)) for chunk in chunks(visible(card.body.description)))
    for label, text in card.beside:
        yield from _fact(one_line(label, 60), visible(text))


def _fact(label: str, text: str) -> Iterator[Block]:
    """A fact on its line; what has more lines, such as an answer, in boxes below its label."""
    if len(text) <= _ON_A_LINE and "\n" not in text:
        yield section(literal(f"{label} ", bold=True), code(text or "–"))
        return
    yield section(literal(label, bold=True))
    yield from (preformatted(chunk) for chunk in chunks(text))


def _packed(parts: Iterator[Block]) -> Iterator[Block]:
    """The parts in blocks that hold no more than one of the longest would."""
    together: list[Block] = []
    size = 0
    for part in parts:
        length = sum(len(one.get("text", "")) for one in part["elements"])
        if together and size + length > _CHUNK:
            yield rich_text(*together)
            together, size = [], 0
        together.append(part)
        size += length
    if together:
        yield rich_text(*together)
