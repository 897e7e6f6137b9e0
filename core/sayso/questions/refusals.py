"""A no that says more: with a reason, or with the changes that would make it a yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sayso.cards.card import Choice
from sayso.errors import ConfigError, InvalidInputError
from sayso.forms.form import Form, FormField, Inputs

DENY_WITH_REASON, CHANGES = "deny-reason", "changes"

REASON_LIMIT = 1_000
"""A reason is at most this many characters long."""

LONGEST_WAIT = timedelta(minutes=15)
"""A denial waits no longer than this for its reason."""

_REASON = "reason"


@dataclass(frozen=True, slots=True)
class Refusals:
    """How a no is given: ready-made ``reasons``, and how long it waits for one.

    Raises:
        ConfigError: the wait is not more than zero or longer than 15 minutes,
            or a reason is empty or longer than 1,000 characters.
    """

    reasons: tuple[str, ...] = ()
    wait: timedelta = timedelta(seconds=60)

    def __post_init__(self) -> None:
        if not timedelta(0) < self.wait <= LONGEST_WAIT:
            raise ConfigError(
                "the wait for a reason must be more than 0 seconds and at most 15 minutes"
            )
        if not all(0 < len(reason.strip()) <= REASON_LIMIT for reason in self.reasons):
            raise ConfigError(f"a ready-made reason must have 1 to {REASON_LIMIT} characters")

    def applied_to(self, choice: Choice) -> Choice:
        """The choice with the ready-made reasons and the wait, where it asks for a reason."""
        if choice.key != DENY_WITH_REASON or choice.form is None:
            return choice
        (field,) = choice.form.fields
        fields = (replace(field, suggestions=self.reasons),)
        return replace(choice, form=replace(choice.form, fields=fields, note=self.without_reason))

    @property
    def without_reason(self) -> str:
        """What happens when no reason is given."""
        return f"Without a reason it is denied in {self.wait.total_seconds():g} seconds."


def reason_is_written(who: str) -> str:
    """What cards say while somebody who denied writes why."""
    return f"{who} denies this; the reason is being written."


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
