"""A question that notes in which threads its card is made."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import ClassVar, Literal

from sayso.cards import CardBody, Choice
from sayso.events import ClarificationResponseEvent, UserInputRequest
from sayso.forms import NO_INPUTS, Inputs

SEEN = Choice("seen", "Seen")


class NotingRequestEvent(UserInputRequest):
    """``made_in`` are the threads, by the question's id."""

    made_in: ClassVar[dict[str, list[int]]] = {}

    type: Literal["NOTING_REQUEST"] = "NOTING_REQUEST"
    noting_id: str
    text: str

    @property
    def question_id(self) -> str:
        """What the question is told apart by."""
        return self.noting_id

    @property
    def subject(self) -> str:
        """What it is about."""
        return "note"

    def card(self) -> CardBody:
        """A card with one button."""
        self.made_in.setdefault(self.noting_id, []).append(threading.get_ident())
        return CardBody(title="A note", choices=(SEEN,))

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> ClarificationResponseEvent:
        """What a press of the button says."""
        return ClarificationResponseEvent(
            request_id=self.noting_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            answer=choice.key,
        )
