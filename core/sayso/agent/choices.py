"""An answer without a chat: what a choice on a request's card means, in code."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sayso.always.terms import Terms
from sayso.cards.card import Choice
from sayso.events import UserInputRequest, UserInputResponse
from sayso.forms.form import NO_INPUTS, Inputs
from sayso.forms.values import raw_inputs
from sayso.rules.rule import RememberedRule


def chosen(
    request: UserInputRequest,
    key: str,
    *,
    by: str,
    at: datetime,
    terms: Terms,
    inputs: Inputs | None = None,
) -> tuple[UserInputResponse, RememberedRule | None]:
    """The response that the choice stands for, and the rule it stores, as on a card.

    ``inputs`` are the values of the choice's form by the names of its fields.

    Raises:
        ValueError: the card has no such choice, the terms do not offer it, or
            it has a form and there are no inputs, or the other way round.
        InvalidInputError: some of the inputs do not fit.
    """
    body = request.card()
    for choice in (*body.choices, *body.more):
        if choice.key != key:
            continue
        values = _read(choice, inputs)
        if not choice.stores:
            return request.answer(choice, by=by, at=at, inputs=values), None
        if choice.scope not in terms.scopes:
            break
        lasting = replace(choice, lasts=terms.lasts(choice.scope))
        rule = request.to_remember(lasting, by=by, at=at, until=at + terms.lasts(choice.scope))
        return request.answer(lasting, by=by, at=at, inputs=values), rule
    offered = ", ".join(choice.key for choice in (*body.choices, *body.more))
    raise ValueError(f"this request has no choice {key!r}; it has {offered}")


def _read(choice: Choice, inputs: Inputs | None) -> Inputs:
    if choice.form is None:
        if inputs:
            raise ValueError(f"the choice {choice.key!r} has no form, so it takes no inputs")
        return NO_INPUTS
    if inputs is None:
        fields = ", ".join(field.name for field in choice.form.fields)
        raise ValueError(f"the choice {choice.key!r} is filled in: it needs inputs for {fields}")
    return choice.form.read(raw_inputs(choice.form, inputs))
