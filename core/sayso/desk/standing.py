"""What somebody may do about a request: nobody approves what they asked for themselves."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from sayso.cards.card import CardBody, Choice
from sayso.events import Outcome, Resolution, UserInputRequest
from sayso.stores.audit import RefusalKind


class Standing(Enum):
    """What an actor is to a request, at the moment of a press.

    An asker is an approver who asked for it: they may deny it and answer it,
    and may not approve it.
    """

    STRANGER = "stranger"
    ASKER = "asker"
    APPROVER = "approver"

    @property
    def refusal(self) -> RefusalKind:
        """Why the actor may not end the request as they want."""
        return "own_request" if self is Standing.ASKER else "not_approver"

    def allows(self, ending: Resolution) -> bool:
        """Whether the actor may end the request with this."""
        if self is Standing.ASKER:
            return ending.outcome is not Outcome.APPROVED
        return self is Standing.APPROVER


def approves(
    request: UserInputRequest, body: CardBody, choice: Choice, *, by: str, at: datetime
) -> bool:
    """Whether the choice, one of its card's, approves.

    Of a choice with a form that is known only when it is filled in. Until then it
    is taken to, where the question is one of yes or no and the form is not one of a no:
    whoever may not approve is not asked to fill it in.
    """
    if choice.form is None:
        return request.answer(choice, by=by, at=at).outcome is Outcome.APPROVED
    if choice.falls_back or not choice.needs_sight:
        return False
    plain = (other for other in body.choices if other.form is None)
    return any(approves(request, body, other, by=by, at=at) for other in plain)
