"""Everything that was asked, complete, in a dialog for one person."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sayso.cards.card import Card
from sayso.text.visible import one_line, visible
from sayso_slack.card.elements import Block, plain_text, preformatted, rich_text

REVEAL_LIMIT = 150_000
"""How many characters are worth trying. In chunks of 1,934 to 2,900 they make 78 blocks at most."""

VIEW_BYTES = 250_000
"""docs.slack.dev, views: 250 kB. How Slack counts is not said, so the longest JSON counts here."""

MOST_BLOCKS = 100
"""docs.slack.dev, views."""

_CHUNK = 2_900
_LEAST = _CHUNK * 2 // 3


def everything_modal(card: Card) -> Block:
    """A view with the complete text behind *Show all*; the chunks join to exactly that text.

    docs.slack.dev, views: a title of 24 characters, 100 blocks; header block:
    150 characters.
    """
    text = visible(card.everything)
    header = {"type": "header", "text": plain_text(one_line(card.body.title, 150))}
    return {
        "type": "modal",
        "title": plain_text(one_line(card.words.all_asked, 24)),
        "close": plain_text(one_line(card.words.close, 24)),
        "blocks": [header, *(rich_text(preformatted(chunk)) for chunk in chunks(text))],
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
