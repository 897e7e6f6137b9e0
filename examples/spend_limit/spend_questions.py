"""A kind of question of your own: may an agent spend this much, and if not, how much?

Agents and bots both need it: agents import it, the bots are told of it in sayso.toml:

    [questions]
    types = ["spend_questions"]

No adapter knows it. Its card and its form appear in Slack and in Telegram all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from sayso import Outcome, Question, Resolution
from sayso.cards import CardBody, Choice
from sayso.errors import InvalidInputError
from sayso.events import UserInputRequest, UserInputResponse
from sayso.forms import NO_INPUTS, Form, FormField, Inputs
from sayso.values import one_value

_LESS = Form(
    "Another amount",
    (
        FormField("euros", "Euros", "integer", minimum=1),
        FormField("note", "Note for the agent", required=False, maximum=300),
    ),
    submit="Grant it",
)


@dataclass(frozen=True, slots=True)
class Spent:
    """How many euros the agent may spend; 0 unless somebody granted some."""

    euros: int
    outcome: Outcome
    reason: str = ""
    decided_by: str | None = None


class SpendRequestEvent(UserInputRequest):
    """May the agent spend this many euros?"""

    result_type = Spent

    type: Literal["SPEND_REQUEST"] = "SPEND_REQUEST"
    spend_id: str
    euros: int = Field(ge=1)
    purpose: str

    @property
    def question_id(self) -> str:
        """The id that comes back with the answer."""
        return self.spend_id

    @property
    def subject(self) -> str:
        """What routes know it as."""
        return "spend"

    def card(self) -> CardBody:
        """What it is for, and three answers: one of them asks for an amount."""
        return CardBody(
            title=f"Spend {self.euros} €?",
            values=one_value(self.purpose),
            facts=self.origin,
            choices=(
                Choice("grant", f"Grant {self.euros} €", "primary", needs_sight=True),
                Choice("less", "Grant less…", needs_sight=True, form=_LESS),
                Choice("refuse", "Refuse", "danger"),
            ),
        )

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> SpendResponseEvent:
        """What each button grants.

        Raises:
            InvalidInputError: less was to be granted, and it is not less.
        """
        granted = {"grant": self.euros, "less": inputs.get("euros", 0)}.get(choice.key, 0)
        if choice.key == "less" and granted >= self.euros:
            raise InvalidInputError({"euros": f"this must be less than {self.euros}"})
        return SpendResponseEvent(
            spend_id=self.spend_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            euros=granted,
            reason=inputs.get("note", ""),
        )

    def result(self, ending: Resolution) -> Spent:
        """How much was granted, whether somebody answered or not."""
        euros = ending.euros if isinstance(ending, SpendResponseEvent) else 0
        return Spent(euros, ending.outcome, ending.reason, ending.decided_by)

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        """How much was granted."""
        if isinstance(ending, SpendResponseEvent) and ending.euros:
            return (("Granted", f"{ending.euros} €"),)
        return ()


class SpendResponseEvent(UserInputResponse):
    """How many euros were granted; 0 is a refusal."""

    type: Literal["SPEND_RESPONSE"] = "SPEND_RESPONSE"
    spend_id: str
    euros: int = Field(ge=0)

    @property
    def question_id(self) -> str:
        """The id of the request."""
        return self.spend_id

    @property
    def outcome(self) -> Outcome:
        """Approved or denied."""
        return Outcome.APPROVED if self.euros else Outcome.DENIED


@dataclass(frozen=True, slots=True)
class Spend(Question[SpendRequestEvent, Spent]):
    """The question as agents ask it, for ``Gate.ask`` and ``Gate.submit``."""

    euros: int
    purpose: str

    def request(self, question_id: str, fields: dict[str, Any]) -> SpendRequestEvent:
        """The question as a request."""
        return SpendRequestEvent(
            spend_id=question_id, euros=self.euros, purpose=self.purpose, **fields
        )
