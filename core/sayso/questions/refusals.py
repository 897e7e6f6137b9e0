"""A no that says more: with a reason, or with the changes that would make it a yes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from gettext import NullTranslations

from sayso.cards.card import Choice, Style
from sayso.errors import ConfigError, InvalidInputError
from sayso.forms.form import Form, FormField
from sayso.forms.form_values import Inputs
from sayso.questions.permission_answer import CHANGES
from sayso.text.visible import format_count

DENY_WITH_REASON = "deny-reason"

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

    def applied_to(self, choice: Choice, translations: NullTranslations) -> Choice:
        """The choice with the ready-made reasons and the wait, where it asks for a reason."""
        if choice.key != DENY_WITH_REASON or choice.form is None:
            return choice
        return _with_reasons(
            choice, choice.form, tuple(self.reasons), self.without_reason(translations)
        )

    def without_reason(self, translations: NullTranslations) -> str:
        """What happens when no reason is given."""
        return format_count(
            translations,
            "Without a reason it is denied in {count} second.",
            "Without a reason it is denied in {count} seconds.",
            self.wait.total_seconds(),
        )


def deny_with_reason_choice(falls_back: str, translations: NullTranslations) -> Choice:
    """*Deny with a reason…*: when nobody writes one in time, the choice ``falls_back`` counts."""
    form = _asking(
        translations.gettext("Deny with a reason"),
        translations.gettext("Reason"),
        translations.gettext("The agent is told this."),
        submit=translations.gettext("Deny"),
        leave_out=translations.gettext("Without a reason"),
        if_closed=translations.gettext(
            "If you close this, the denial counts at once, without a reason."
        ),
    )
    return _choice(
        DENY_WITH_REASON, translations.gettext("Deny with a reason…"), form, "danger", falls_back
    )


def changes_choice(translations: NullTranslations) -> Choice:
    """*Ask for changes…*: a no that says what to do differently."""
    form = _asking(
        translations.gettext("Ask for changes"),
        translations.gettext("What should change"),
        translations.gettext("The agent is told this and can ask again."),
    )
    return _choice(CHANGES, translations.gettext("Ask for changes…"), form)


# Every card has these, in one of a few languages: each is made once.
_once = lru_cache(maxsize=64)


@_once
def _asking(
    title: str,
    label: str,
    hint: str,
    *,
    submit: str = "",
    leave_out: str = "",
    if_closed: str = "",
) -> Form:
    field = FormField(_REASON, label, multiline=True, maximum=REASON_LIMIT, hint=hint)
    return Form(title, (field,), submit=submit, leave_out=leave_out, if_closed=if_closed)


@_once
def _choice(
    key: str, label: str, form: Form, style: Style = "default", falls_back: str = ""
) -> Choice:
    return Choice(key, label, style, form=form, falls_back=falls_back)


@_once
def _with_reasons(choice: Choice, form: Form, reasons: tuple[str, ...], note: str) -> Choice:
    (field,) = form.fields
    fields = (replace(field, suggestions=reasons),)
    return replace(choice, form=replace(form, fields=fields, note=note))


def reason_in(inputs: Inputs, translations: NullTranslations) -> str:
    """What was written into the form of one of these choices.

    Raises:
        InvalidInputError: nothing but white space.
    """
    reason = str(inputs.get(_REASON, "")).strip()
    if not reason:
        raise InvalidInputError({_REASON: translations.gettext("an answer is needed here")})
    return reason
