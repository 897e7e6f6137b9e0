"""An answer without a chat: what a choice on a request's card means, in code."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sayso.always.terms import GrantOptions
from sayso.cards.card import Choice, every
from sayso.events import UserInputRequest, UserInputResponse
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.rules.rule import RememberedRule


def chosen(
    request: UserInputRequest,
    key: str,
    *,
    by: str,
    at: datetime,
    terms: GrantOptions,
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
    for choice in every((*body.choices, *body.more)):
        if choice.key != key:
            continue
        if choice.stores and choice.scope not in terms.scopes:
            break
        return pressed(request, choice, by=by, at=at, terms=terms, inputs=_read(choice, inputs))
    offered = ", ".join(choice.key for choice in (*body.choices, *body.more))
    raise ValueError(f"this request has no choice {key!r}; it has {offered}")


def pressed(
    request: UserInputRequest,
    choice: Choice,
    *,
    by: str,
    at: datetime,
    terms: GrantOptions,
    inputs: Inputs,
) -> tuple[UserInputResponse, RememberedRule | None]:
    """What a choice that the terms offer stands for, with what its form was read to.

    A rule for several tools is stored for the one that was asked about: nobody knows here
    whether who answers for it answers for the others.
    """
    if not choice.stores:
        return request.answer(choice, by=by, at=at, inputs=inputs), None
    choice = choice.alone or choice
    lasts = terms.lasts(choice)
    lasting = replace(choice, lasts=lasts)
    rule = request.to_remember(lasting, by=by, at=at, until=at + lasts)
    return request.answer(lasting, by=by, at=at, inputs=inputs).keeping(rule), rule


def answer_to(
    request: UserInputRequest, response: UserInputResponse, *, at: datetime, terms: GrantOptions
) -> tuple[UserInputResponse, RememberedRule | None]:
    """The answer that somebody's response stands for, built by the request, and what it stores.

    Raises:
        InvalidInputError: what was filled in does not fit.
        ValueError: no person could have answered so, or does not say who did.
    """
    given = {name: getattr(response, name) for name in response.model_fields_set}
    by = response.decided_by or ""
    said = request.said(given, by=by, at=at)
    rule = None
    if isinstance(said, str):
        said, rule = chosen(request, said, by=by, at=at, terms=terms)
        if response.reason:
            said = said.model_copy(update={"reason": response.reason})
    meant, given_as = type(said), type(response)
    if not issubclass(meant, given_as):
        text = f"it is answered by a {meant.__name__}, not by a {given_as.__name__}"
        raise ValueError(text)  # noqa: TRY004  as for every answer that nobody can give
    built, fields = dict(said), type(response).model_fields
    wrong = [
        name
        for name, value in given.items()
        if name != "decided_at" and value not in (built[name], fields[name].default)
    ]
    if wrong:
        names = ", ".join(sorted(wrong))
        raise ValueError(f"no button gives this answer ({names}): use choose() with its inputs")
    return said, rule


def _read(choice: Choice, inputs: Inputs | None) -> Inputs:
    if choice.form is None:
        if inputs:
            raise ValueError(f"the choice {choice.key!r} has no form, so it takes no inputs")
        return NO_INPUTS
    if inputs is None:
        fields = ", ".join(field.name for field in choice.form.fields)
        raise ValueError(f"the choice {choice.key!r} is filled in: it needs inputs for {fields}")
    return choice.form.read(choice.form.to_raw(inputs))
