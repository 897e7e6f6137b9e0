"""What a message says in the same way of its one card and of each of several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from gettext import NullTranslations

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.outcomes import outcome_text
from sayso.cards.plain import OUTCOME_ICONS
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


def second_step(choice: Choice, translations: NullTranslations, *, most: int) -> Block:
    """What the card asks once more before it stores something."""
    asked = translations.gettext("Really? This would be remembered:")
    return section(
        literal(f"⚠️ {asked} ", bold=True), literal(shortened(stored_words(choice), most))
    )


def outcome(ended: Ended, translations: NullTranslations, spans: Spans) -> Block:
    """How it ended, by whom, why, and what was stored."""
    word = one_line(outcome_text(translations, ended.outcome), 30)
    icon = OUTCOME_ICONS.get(ended.outcome, "•")
    how = [literal(f"{icon} {word[:1].upper()}{word[1:]}", bold=True)]
    pieces = [*(_by(translations, how, _person(ended, spans)) if ended.by else how)]
    if ended.went:
        pieces.append(literal(f" · {ended.went}"))
    if ended.note:
        # Whoever ran the call says so: set as what agents say is.
        pieces += [literal(" "), code(one_line(ended.note, spans.note))]
    for label, text, most in (
        (translations.gettext("Reason"), ended.reason, spans.reason),
        (translations.gettext("Remembered"), ended.stored, spans.stored),
    ):
        if text:
            pieces += [literal(f"\n{label} ", bold=True), literal(one_line(text, most))]
    if ended.stored and ended.until is not None:
        until = translations.gettext("until")
        pieces += [literal(f", {until} "), moment(ended.until, translations)]
    return section(*pieces)


def _by(translations: NullTranslations, how: list[Block], who: list[Block]) -> Iterator[Block]:
    gaps = {"outcome": how, "who": who}
    for text, gap in parts_of(translations.gettext("{outcome} by {who}")):
        if text:
            yield literal(text)
        yield from gaps.get(gap, ())


def _person(ended: Ended, spans: Spans) -> list[Block]:
    """Who ended it; a Slack user as Slack shows people. An edited message notifies nobody."""
    if match := _SLACK_ACTOR.fullmatch(ended.by):
        name = [literal(one_line(ended.by_name, spans.name) + " ")] if ended.by_name else []
        return [*name, {"type": "user", "user_id": match[1]}]
    return [literal(one_line(ended.who, spans.who))]
