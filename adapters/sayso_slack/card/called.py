"""The line that calls people, on a message with cards: the only mentions that Sayso makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sayso.cards.called import Called
from sayso.cards.card import Card
from sayso.text.visible import one_line
from sayso_slack.card.elements import Block, context, literal, plain_text, rich_text, section

_PERSON = re.compile(r"slack:([UW][A-Z0-9]{2,30})", re.ASCII)
_GROUP = re.compile(r"slack:(S[A-Z0-9]{2,30})", re.ASCII)
_NOTE = 200


def calling(cards: Sequence[Card]) -> list[Block]:
    """Whom these cards call, each person once, and why nobody is; nothing where neither is said."""
    people = list({one.actor: one for card in cards for one in card.call.people}.values())
    lead = next((card.call.lead for card in cards if card.call.people), "")
    blocks = [rich_text(section(literal(f"👋 {lead}"), *mentions(people)))] if people else []
    # Cards of one message went one way: what is said of the first is said of all.
    if note := next((card.call.note for card in cards if card.call.note), ""):
        blocks.append(context(plain_text(f"🌙 {one_line(note, _NOTE)}")))
    return blocks


def mentions(people: Sequence[Called]) -> Iterator[Block]:
    """Each of them, with a space before. docs.slack.dev, rich text block: user, usergroup."""
    for one in people:
        if match := _PERSON.fullmatch(one.actor):
            yield literal(" ")
            yield {"type": "user", "user_id": match[1]}
        elif match := _GROUP.fullmatch(one.actor):
            yield literal(" ")
            yield {"type": "usergroup", "usergroup_id": match[1]}
