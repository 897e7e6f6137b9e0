"""Bundles: several cards on one message, each decided on its own, or all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from gettext import NullTranslations

from sayso.cards.card import Card, Choice, Ended, Open
from sayso.cards.outcomes import SUPERSEDED, outcome_text
from sayso.text.visible import format_count

ALLOW_ALL = Choice("allow-all", "Allow all", "primary", needs_sight=True)
DENY_ALL = Choice("deny-all", "Deny all", "danger")
EACH = {ALLOW_ALL.key: "allow", DENY_ALL.key: "deny"}
"""The choice that each card gets of a choice for all of them."""

MOST_IN_BUNDLE = 8
"""More cards than this do not share a message: nobody reads them as one."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The cards of one message, in the order of its lines."""

    cards: tuple[Card, ...]

    @property
    def translations(self) -> NullTranslations:
        """What its cards are translated with."""
        return self.cards[0].translations

    @property
    def waiting(self) -> tuple[Card, ...]:
        """The cards that nobody has decided yet."""
        return tuple(card for card in self.cards if isinstance(card.state, Open))

    @property
    def title(self) -> str:
        """How many calls wait, in words."""
        count, waiting = len(self.cards), len(self.waiting)
        if not waiting and self._is_elsewhere:
            said = outcome_text(self.translations, SUPERSEDED)
            return f"{said[:1].upper()}{said[1:]}"
        if not waiting:
            return format_count(
                self.translations, "The call is decided", "All {count} calls are decided", count
            )
        if waiting == count:
            return format_count(
                self.translations, "{count} call is waiting", "{count} calls are waiting", count
            )
        return format_count(
            self.translations,
            "{count} of {all} calls is waiting",
            "{count} of {all} calls are waiting",
            waiting,
            all=count,
        )

    @property
    def _is_elsewhere(self) -> bool:
        states = [card.state for card in self.cards if isinstance(card.state, Ended)]
        return any(state.outcome == SUPERSEDED for state in states)

    @property
    def handle(self) -> str:
        """What the buttons for all of them carry; which of the handles does not matter."""
        return self.cards[0].handle

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices for all that wait; none while there are fewer than two of them.

        What a person could not see in full is not allowed along with the rest.
        """
        waiting = self.waiting
        if len(waiting) < 2:
            return ()
        labelled = (
            replace(ALLOW_ALL, label=self.translations.gettext("Allow all")),
            replace(DENY_ALL, label=self.translations.gettext("Deny all")),
        )
        return tuple(
            choice for choice in labelled if all(card.choice(EACH[choice.key]) for card in waiting)
        )

    @property
    def notice(self) -> str:
        """Why not all can be allowed at once, empty where they can or only one waits."""
        unseen = len(unseen_of(self.waiting))
        if len(self.waiting) < 2 or not unseen:
            return ""
        return format_count(
            self.translations,
            "{allow_all} is offered once everything was seen: {count} of the calls is cut.",
            "{allow_all} is offered once everything was seen: {count} of the calls are cut.",
            unseen,
            allow_all=self.translations.gettext("Allow all"),
        )

    @property
    def asker(self) -> str:
        """Who asks, where it is the same for all of them; empty where not."""
        askers = {card.asker for card in self.cards}
        return askers.pop() if len(askers) == 1 else ""

    @property
    def agent(self) -> str:
        """Who asks, in short where it is not the same for all of them: whose run it is."""
        return self.asker or self.cards[0].asker.partition(" › ")[0]

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The facts that hold for all of them, while one of them shows its own."""
        if all(card.is_short for card in self.cards):
            return ()
        first, *others = self.cards
        return tuple(
            fact for fact in first.body.facts if all(fact in card.body.facts for card in others)
        )

    def own_facts(self, card: Card) -> tuple[tuple[str, str], ...]:
        """The facts of one card that the message does not say of all."""
        common = self.facts
        asker = () if self.asker else ((self.translations.gettext("Asked by"), card.asker),)
        return (*asker, *(fact for fact in card.body.facts if fact not in common))

    @property
    def expires(self) -> tuple[datetime, datetime] | None:
        """When the first and the last of those that wait expire; None when none waits."""
        times = [card.expires_at for card in self.waiting]
        return (min(times), max(times)) if times else None


def unseen_of(cards: Sequence[Card]) -> tuple[Card, ...]:
    """The cards that cannot be allowed, because a part of them was not shown yet."""
    allow = EACH[ALLOW_ALL.key]
    return tuple(card for card in cards if card.choice(allow) is None)
