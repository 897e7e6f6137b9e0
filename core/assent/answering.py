"""An answer without a chat: what a choice on a request's card means, in code."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from assent.events import UserInputRequest, UserInputResponse
from assent.rules import RememberedRule
from assent.terms import Terms


def chosen(
    request: UserInputRequest, key: str, *, by: str, at: datetime, terms: Terms
) -> tuple[UserInputResponse, RememberedRule | None]:
    """The response that the choice stands for, and the rule it stores, as on a card.

    Raises:
        ValueError: the card has no such choice, or the terms do not offer it.
    """
    body = request.card()
    for choice in (*body.choices, *body.more):
        if choice.key != key:
            continue
        if not choice.stores:
            return request.answer(choice, by=by, at=at), None
        if choice.scope not in terms.scopes:
            break
        lasting = replace(choice, lasts=terms.lasts(choice.scope))
        rule = request.to_remember(lasting, by=by, at=at, until=at + terms.lasts(choice.scope))
        return request.answer(lasting, by=by, at=at), rule
    offered = ", ".join(choice.key for choice in (*body.choices, *body.more))
    raise ValueError(f"this request has no choice {key!r}; it has {offered}")
