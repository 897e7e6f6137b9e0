"""A no that says more: with a reason, or with the changes that would make it a yes."""

from __future__ import annotations

from collections.abc import Sequence

from assent.cards import Choice
from assent.errors import InvalidInputError
from assent.forms import Form, FormField, Inputs

DENY_WITH_REASON, CHANGES = "deny-reason", "changes"

REASON_LIMIT = 1_000
"""A reason is at most this many characters long."""

_REASON = "reason"


def deny_with_reason_choice(falls_back: str, reasons: Sequence[str] = ()) -> Choice:
    """*Deny with a reason…*; ``reasons`` are ready-made ones.

    When nobody writes one in time, the choice of the key ``falls_back`` counts.
    """
    field = FormField(
        _REASON,
        "Reason",
        multiline=True,
        maximum=REASON_LIMIT,
        suggestions=tuple(reasons),
        hint="The agent is told this.",
    )
    form = Form("Deny with a reason", (field,), submit="Deny")
    return Choice(
        DENY_WITH_REASON, "Deny with a reason…", "danger", form=form, falls_back=falls_back
    )


def changes_choice() -> Choice:
    """*Ask for changes…*: a no that says what to do differently."""
    field = FormField(
        _REASON,
        "What should change",
        multiline=True,
        maximum=REASON_LIMIT,
        hint="The agent is told this and can ask again.",
    )
    return Choice(CHANGES, "Ask for changes…", form=Form("Ask for changes", (field,)))


def reason_in(inputs: Inputs) -> str:
    """What was written into the form of one of these choices.

    Raises:
        InvalidInputError: nothing but white space.
    """
    reason = str(inputs.get(_REASON, "")).strip()
    if not reason:
        raise InvalidInputError({_REASON: "an answer is needed here"})
    return reason
