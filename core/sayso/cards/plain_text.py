"""A card as plain text: for screen readers, for notifications, and after its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from gettext import NullTranslations
from typing import Protocol

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.gist import alert_of
from sayso.cards.outcomes import SUPERSEDED, outcome_by
from sayso.cards.truncation import cut_notice
from sayso.formats import formats_of
from sayso.text.agents import from_agent
from sayso.text.visible import format_count, one_line, shortened

_LONGEST_NOTE = 300


class Told(Protocol):
    """Say how a call went, as its runner tells it."""

    @property
    def went(self) -> str:
        """Succeeded or failed."""
        ...

    @property
    def note(self) -> str:
        """More about it."""
        ...


def afterwards(report: Told | None, translations: NullTranslations) -> tuple[str, str]:
    """Say how the call went that ran on an approval, as its runner tells it."""
    if report is None:
        return translations.gettext("started; how it went was not told"), ""
    went = (
        translations.gettext("failed") if report.went == "failed" else translations.gettext("ran")
    )
    return went, shortened(from_agent(report.note, one_line=True).strip(), _LONGEST_NOTE)


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
    translations = card.translations
    if isinstance(card.state, Ended):
        yield from _ending(card, card.state)
        if card.is_short:
            return
    else:
        yield alert_of(card)
        if danger := card.danger():
            yield danger
        labels = ", ".join(map(label, card.choices))
        buttons = translations.gettext("Buttons: {labels}.").format(labels=labels)
        choices = f" {buttons}" if labels else ""
        yield f"{expires(card)}.{choices}"
    if notice := cut_notice(card):
        yield notice
    yield translations.gettext("Written by the agent, from here to the end:")
    yield from _barred(card.content)
    if card.description:
        yield f"{card.described}:"
        yield from _barred(card.description)
    yield from (f"{name}: {value}" for name, value in card.facts)


def expires(card: Card) -> str:
    """In how long it expires, where that is known: who hears of it, hears of it now."""
    if card.waits:
        return card.translations.gettext("Expires in {time}").format(time=card.waits)
    text = card.translations.gettext("Expires")
    return f"{text} {formats_of(card.translations).time(card.expires_at)}"


def _barred(text: str) -> Iterator[str]:
    return (f"| {line}" for line in text.split("\n") if text)


def _ending(card: Card, ended: Ended) -> Iterator[str]:
    translations = card.translations
    icon = OUTCOME_ICONS.get(ended.outcome, "•")
    how = outcome_by(
        translations, one_line(ended.outcome, 30), ended.who and one_line(ended.who, 120)
    )
    yield f"{icon} {how[:1].upper()}{how[1:]}: {alert_of(card)}"
    when = translations.gettext("Ended")
    yield f"{when} {formats_of(translations).time(ended.at)}."
    if ended.reason:
        reason = translations.gettext("Reason")
        yield f"{reason}: {one_line(ended.reason, 300)}"
    if ended.stored:
        remembered = translations.gettext("Remembered")
        yield f"{remembered}: {one_line(ended.stored, 300)}{_until(ended, translations)}"
    if ended.went:
        afterwards = translations.gettext("Afterwards")
        yield f"{afterwards}: {ended.went}"
    if ended.note:
        yield f"| {one_line(ended.note, 300)}"
    told = ended.facts if len(ended.facts) <= _MOST_TOLD else ended.facts[: _MOST_TOLD - 1]
    for name, text in told:
        yield f"| {one_line(name, 60)}: {one_line(text, 300)}"
    if len(ended.facts) > len(told):
        yield format_count(
            translations,
            "{count} more answer is not shown here.",
            "{count} more answers are not shown here.",
            len(ended.facts) - len(told),
        )


def _until(ended: Ended, translations: NullTranslations) -> str:
    until = translations.gettext("until")
    return f", {until} {formats_of(translations).time(ended.until)}" if ended.until else ""
