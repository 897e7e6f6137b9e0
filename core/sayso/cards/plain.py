"""A card as plain text, for what notifications show and screen readers read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.gist import alert_of
from sayso.cards.left_out import cut_notice
from sayso.cards.words import SUPERSEDED, CardWords
from sayso.text.visible import one_line

OUTCOME_ICONS = {
    "approved": "✅",
    "denied": "⛔",
    "expired": "⌛",
    "cancelled": "🚫",
    "answered": "💬",
    "undeliverable": "📭",
    SUPERSEDED: "↪️",
}
"""What each outcome looks like at a glance. A kind of question may have others, without one."""

_MOST_TOLD = 8


def plain_lines(card: Card, *, label: Callable[[Choice], str]) -> Iterator[str]:
    """The card line by line, the most important first; ``label`` is what its buttons say.

    The first line says who asks, for which tool, and what matters about it. The agent's words
    stand at the end, below a line that says whose they are: none of them looks like one of the
    card, however it is wrapped.
    """
    words = card.words
    if isinstance(card.state, Ended):
        yield from _ending(card, card.state)
        if card.is_short:
            return
    else:
        yield alert_of(card)
        if danger := card.danger():
            yield danger
        labels = ", ".join(map(label, card.choices))
        choices = f" {words.buttons.format(labels=labels)}" if labels else ""
        yield f"{expires(card)}.{choices}"
    if notice := cut_notice(card):
        yield notice
    yield words.from_agent
    yield from _barred(card.content)
    if card.description:
        yield f"{card.described}:"
        yield from _barred(card.description)
    yield from (f"{name}: {value}" for name, value in card.facts)


def expires(card: Card) -> str:
    """In how long it expires, where that is known: who hears of it, hears of it now."""
    if card.waits:
        return card.words.expires_in.format(time=card.waits)
    return f"{card.words.expires} {card.words.formats.time(card.expires_at)}"


def _barred(text: str) -> Iterator[str]:
    return (f"| {line}" for line in text.split("\n") if text)


def _ending(card: Card, ended: Ended) -> Iterator[str]:
    words = card.words
    icon = OUTCOME_ICONS.get(ended.outcome, "•")
    how = words.how(one_line(ended.outcome, 30), ended.who and one_line(ended.who, 120))
    yield f"{icon} {how[:1].upper()}{how[1:]}: {alert_of(card)}"
    yield f"{words.ended} {words.formats.time(ended.at)}."
    if ended.reason:
        yield f"{words.reason}: {one_line(ended.reason, 300)}"
    if ended.stored:
        yield f"{words.remembered}: {one_line(ended.stored, 300)}{_until(ended, words)}"
    if ended.went:
        yield f"{words.afterwards}: {ended.went}"
    if ended.note:
        yield f"| {one_line(ended.note, 300)}"
    told = ended.facts if len(ended.facts) <= _MOST_TOLD else ended.facts[: _MOST_TOLD - 1]
    for name, text in told:
        yield f"| {one_line(name, 60)}: {one_line(text, 300)}"
    if len(ended.facts) > len(told):
        yield words.more_answers.of(len(ended.facts) - len(told))


def _until(ended: Ended, words: CardWords) -> str:
    return f", {words.until} {words.formats.time(ended.until)}" if ended.until else ""
