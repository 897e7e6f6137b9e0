"""A card as plain text, for what notifications show and screen readers read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.words import SUPERSEDED
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

    The first line says who asks what. The agent's words stand at the end, below a line
    that says whose they are: none of them looks like one of the card, however it is wrapped.
    """
    words = card.words
    if isinstance(card.state, Ended):
        yield from _ending(card, card.state)
    else:
        gist = f": {card.gist}" if card.gist else ""
        yield words.asks.format(asker=card.asker, title=card.body.title) + gist
        labels = ", ".join(map(label, card.choices))
        choices = f" {words.buttons.format(labels=labels)}" if labels else ""
        if danger := card.danger():
            yield danger
        yield f"{words.expires} {words.formats.time(card.expires_at)}.{choices}"
    if card.cut_notice:
        yield card.cut_notice
    yield words.from_agent
    yield from _barred(card.content)
    if card.description:
        yield f"{card.described}:"
        yield from _barred(card.description)
    yield from (f"{name}: {value}" for name, value in (*card.body.facts, *card.details))


def _barred(text: str) -> Iterator[str]:
    return (f"| {line}" for line in text.split("\n") if text)


def _ending(card: Card, ended: Ended) -> Iterator[str]:
    words = card.words
    icon = OUTCOME_ICONS.get(ended.outcome, "•")
    how = words.how(one_line(ended.outcome, 30), ended.who and one_line(ended.who, 120))
    yield f"{icon} {how[:1].upper()}{how[1:]}: {card.body.title}"
    yield f"{words.asked_by} {card.asker}. {words.ended} {words.formats.time(ended.at)}."
    if ended.reason:
        yield f"{words.reason}: {one_line(ended.reason, 300)}"
    if ended.stored:
        yield f"{words.remembered}: {one_line(ended.stored, 300)}"
    told = ended.facts if len(ended.facts) <= _MOST_TOLD else ended.facts[: _MOST_TOLD - 1]
    for name, text in told:
        yield f"| {one_line(name, 60)}: {one_line(text, 300)}"
    if len(ended.facts) > len(told):
        yield words.more_answers.of(len(ended.facts) - len(told))
