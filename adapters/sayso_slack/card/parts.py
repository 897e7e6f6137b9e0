"""What a message says in the same way of its one card and of each of several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.plain import OUTCOME_ICONS
from sayso.cards.words import CardWords
from sayso.text.gaps import parts_of
from sayso.text.visible import one_line, shortened
from sayso_slack.card.elements import Block, code, literal, moment, section
from sayso_slack.card.presentable import stored_words

_SLACK_ACTOR = re.compile(r"slack:([UW][A-Z0-9]{1,20})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spans:
    """How many characters each part of an ending may have."""

    who: int = 120
    name: int = 60
    reason: int = 300
    stored: int = 300
    note: int = 150


def confirming(card: Card) -> Choice | None:
    """The choice at its second step, as far as a message can show what it stores."""
    if isinstance(card.state, Ended) or card.state.confirming is None:
        return None
    known = card.choice(card.state.confirming.key)
    return known and replace(known, warning=card.state.confirming.warning)


def danger_line(danger: str) -> Block:
    """What a person should not overlook, right above the buttons."""
    return section(literal(f"⚠️ {danger}", bold=True))


def second_step(choice: Choice, words: CardWords, *, most: int) -> Block:
    """What the card asks once more before it stores something."""
    asked = literal(f"⚠️ {words.really} ", bold=True)
    return section(asked, literal(shortened(stored_words(choice), most)))


def outcome(ended: Ended, words: CardWords, spans: Spans) -> Block:
    """How it ended, by whom, why, and what was stored."""
    word = one_line(words.outcome(ended.outcome), 30)
    icon = OUTCOME_ICONS.get(ended.outcome, "•")
    how = [literal(f"{icon} {word[:1].upper()}{word[1:]}", bold=True)]
    pieces = [*(_by(words, how, _person(ended, spans)) if ended.by else how)]
    if ended.went:
        pieces.append(literal(f" · {ended.went}"))
    if ended.note:
        # Whoever ran the call says so: set as what agents say is.
        pieces += [literal(" "), code(one_line(ended.note, spans.note))]
    for label, text, most in (
        (words.reason, ended.reason, spans.reason),
        (words.remembered, ended.stored, spans.stored),
    ):
        if text:
            pieces += [literal(f"\n{label} ", bold=True), literal(one_line(text, most))]
    if ended.stored and ended.until is not None:
        pieces += [literal(f", {words.until} "), moment(ended.until, words)]
    return section(*pieces)


def _by(words: CardWords, how: list[Block], who: list[Block]) -> Iterator[Block]:
    gaps = {"outcome": how, "who": who}
    for text, gap in parts_of(words.by):
        if text:
            yield literal(text)
        yield from gaps.get(gap, ())


def _person(ended: Ended, spans: Spans) -> list[Block]:
    """Who ended it; a Slack user as Slack shows people. An edited message notifies nobody."""
    if match := _SLACK_ACTOR.fullmatch(ended.by):
        name = [literal(one_line(ended.by_name, spans.name) + " ")] if ended.by_name else []
        return [*name, {"type": "user", "user_id": match[1]}]
    return [literal(one_line(ended.who, spans.who))]
