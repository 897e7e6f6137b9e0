"""May the run go on after its iteration limit? The request, its answer, and the card between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, field_validator

from sayso.cards.card import CardBody, Choice
from sayso.clock import utc_now
from sayso.errors import SchemaError
from sayso.events import Outcome, Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.questions.inquiry import Question
from sayso.text.agents import from_agent
from sayso.text.visible import format_count
from sayso.values import one_value

AMOUNTS = (5, 10, 20)
MAX_AMOUNTS = 5
MAX_AMOUNT = 1_000_000

_CONTINUE, STOP = "continue-", "stop"


@dataclass(frozen=True, slots=True)
class Continuation:
    """Whether the run goes on, by how many iterations, and why; ``outcome`` says how it ended."""

    outcome: Outcome
    extra: int = 0
    reason: str = ""
    decided_by: str | None = None

    @property
    def approved(self) -> bool:
        """True if the run goes on."""
        return self.outcome is Outcome.APPROVED


class ContinuationRequestEvent(UserInputRequest):
    """A run has used up its iterations and asks whether it gets more.

    ``amounts`` are the extensions a person can choose from. This is no
    permission for any tool.
    """

    result_type = Continuation

    type: Literal["CONTINUATION_REQUEST"] = "CONTINUATION_REQUEST"
    continuation_id: str
    current_iteration: Annotated[int, Field(ge=0, strict=True)]
    max_iterations: Annotated[int, Field(ge=0, strict=True)]
    description: str = ""
    amounts: tuple[Annotated[int, Field(ge=1, le=MAX_AMOUNT, strict=True)], ...] = AMOUNTS

    @field_validator("amounts")
    @classmethod
    def _choosable(cls, amounts: tuple[int, ...]) -> tuple[int, ...]:
        if not 1 <= len(amounts) <= MAX_AMOUNTS or len(set(amounts)) != len(amounts):
            raise ValueError(f"amounts must be 1 to {MAX_AMOUNTS} different numbers, not {amounts}")
        return amounts

    @property
    def question_id(self) -> str:
        """The continuation id."""
        return self.continuation_id

    @property
    def subject(self) -> str:
        """Routes know this kind of question as ``continuation``."""
        return "continuation"

    def card(self) -> CardBody:
        """How far the run is, and the buttons Continue (+N) and Stop."""
        translations = self.translations
        more = tuple(
            Choice(
                f"{_CONTINUE}{amount}",
                translations.gettext("Continue (+{count})").format(count=amount),
                "primary" if number == 0 else "default",
                needs_sight=True,
            )
            for number, amount in enumerate(self.amounts)
        )
        return CardBody(
            title=translations.gettext("Continue?"),
            description=from_agent(self.description),
            values=one_value(
                translations.gettext("The run has used {used} of {most} iterations.").format(
                    used=self.current_iteration, most=self.max_iterations
                )
            ),
            facts=self.origin,
            choices=(*more, Choice(STOP, translations.gettext("Stop"), "danger")),
        )

    def answer(
        self,
        choice: Choice,
        *,
        by: str,
        at: datetime,
        inputs: Inputs = NO_INPUTS,  # noqa: ARG002  no choice of it has a form
    ) -> ContinuationResponseEvent:
        """The response that Continue (+N) or Stop stands for.

        Raises:
            ValueError: the choice is not one of this card.
        """
        if choice.key == STOP:
            return self.deny(by=by, at=at)
        for amount in self.amounts:
            if choice.key == f"{_CONTINUE}{amount}":
                return self.approve(by=by, at=at, extension_amount=amount)
        raise ValueError(f"a continuation has no choice {choice.key!r}")

    def approve(
        self,
        *,
        by: str,
        at: datetime | None = None,
        extension_amount: int | None = None,
        reason: str = "",
    ) -> ContinuationResponseEvent:
        """The response that gives the run more iterations.

        Without an amount, or with 0, it is the first one offered.

        Raises:
            SchemaError: the amount was not offered.
        """
        amount = extension_amount or self.amounts[0]
        if amount not in self.amounts:
            offered = ", ".join(map(str, self.amounts))
            reason = f"was not offered; offered are {offered}"
            raise SchemaError.at_field("extension_amount", reason=reason)
        told = reason or format_count(
            self.translations, "{count} more iteration", "{count} more iterations", amount
        )
        return self._response(amount, by=by, at=at, reason=told)

    def deny(
        self, *, by: str, at: datetime | None = None, reason: str = ""
    ) -> ContinuationResponseEvent:
        """The response that ends the run."""
        return self._response(0, by=by, at=at, reason=reason)

    def said(
        self, fields: Mapping[str, Any], *, by: str, at: datetime
    ) -> ContinuationResponseEvent:
        """Whether the run goes on, and by how many iterations.

        Raises:
            SchemaError: the amount was not offered.
        """
        reason = fields.get("reason", "")
        if not fields.get("approved"):
            return self.deny(by=by, at=at, reason=reason)
        amount = fields.get("extension_amount")
        return self.approve(by=by, at=at, extension_amount=amount, reason=reason)

    def result(self, ending: Resolution) -> Continuation:
        """What the ending of the question means for the run: anything but an approval ends it."""
        if (
            isinstance(ending, ContinuationResponseEvent)
            and ending.approved
            and ending.extension_amount in self.amounts
        ):
            return Continuation(
                Outcome.APPROVED, ending.extension_amount, ending.reason, ending.decided_by
            )
        outcome = ending.outcome
        if outcome in (Outcome.APPROVED, Outcome.ANSWERED):
            outcome = Outcome.DENIED  # by what is not an answer to this question
        told = {
            Outcome.DENIED: "stopped",
            Outcome.EXPIRED: "not extended",
            Outcome.CANCELLED: "not extended: the question was cancelled",
            Outcome.UNDELIVERABLE: "not extended: nobody could be asked",
        }[outcome]
        by = f" by {ending.decided_by}" if ending.decided_by else ""
        because = f": {ending.reason}" if ending.reason else ""
        limit = f"the limit of {self.max_iterations} iterations was reached"
        return Continuation(outcome, 0, f"{limit} and {told}{by}{because}", ending.decided_by)

    def _response(
        self, amount: int, *, by: str, at: datetime | None, reason: str
    ) -> ContinuationResponseEvent:
        return ContinuationResponseEvent(
            continuation_id=self.continuation_id,
            source_name=self.source_name,
            approved=amount > 0,
            extension_amount=amount,
            decided_by=by,
            decided_at=at or utc_now(),
            reason=reason,
        )


class ContinuationResponseEvent(UserInputResponse):
    """The answer that counts; ``extension_amount`` is how many more iterations the run has."""

    type: Literal["CONTINUATION_RESPONSE"] = "CONTINUATION_RESPONSE"
    continuation_id: str
    approved: StrictBool
    extension_amount: Annotated[int, Field(ge=0, le=MAX_AMOUNT, strict=True)] = 0

    @property
    def question_id(self) -> str:
        """The continuation id."""
        return self.continuation_id

    @property
    def outcome(self) -> Outcome:
        """Approved or denied."""
        return Outcome.APPROVED if self.approved else Outcome.DENIED


@dataclass(frozen=True, slots=True)
class Continue(Question[ContinuationRequestEvent, Continuation]):
    """Whether a run may go on, by 5, 10 or 20 iterations or one of other ``amounts``.

    Its request raises ValueError unless these are one to five different
    positive numbers.
    """

    current: int
    maximum: int
    amounts: Sequence[int] | None = None
    description: str = ""

    def request(self, question_id: str, fields: dict[str, Any]) -> ContinuationRequestEvent:
        """The question as a request."""
        return ContinuationRequestEvent(
            continuation_id=question_id,
            current_iteration=self.current,
            max_iterations=self.maximum,
            description=self.description,
            amounts=AMOUNTS if self.amounts is None else tuple(self.amounts),
            **fields,
        )
