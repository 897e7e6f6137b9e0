"""Questions without an answer: the button for it, and what it means for the agent."""

from __future__ import annotations

from gettext import NullTranslations

from sayso.cards.card import Choice
from sayso.events import Outcome, Resolution

DECLINE = "decline"


def decline_choice(translations: NullTranslations) -> Choice:
    """*Don't answer*, on the card of every question that asks for more than yes or no."""
    return Choice(DECLINE, translations.gettext("Don't answer"), "danger")


def unanswered(ending: Resolution, told: str) -> tuple[Outcome, str]:
    """How a question without a valid answer ended, and why in words that begin with ``told``.

    An ending that claims to be an answer but is not one counts as a no.
    """
    outcome = ending.outcome
    if outcome in (Outcome.APPROVED, Outcome.ANSWERED):
        return Outcome.DENIED, f"{told}: what came back does not answer this question"
    said = {
        Outcome.CANCELLED: f"{told}: the question was cancelled",
        Outcome.UNDELIVERABLE: f"{told}: nobody could be asked",
    }.get(outcome, told)
    by = f" by {ending.decided_by}" if ending.decided_by else ""
    because = f": {ending.reason}" if ending.reason else ""
    return outcome, f"{said}{by}{because}"
