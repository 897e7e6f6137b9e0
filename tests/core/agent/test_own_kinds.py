"""A kind of question of one's own is asked, submitted and resumed as ours are."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import pytest

from sayso import Clarification, Gate, Orchestrator, Outcome, Question, Resolution, RunRef
from sayso.cards import CardBody, Choice
from sayso.errors import WrongRequestTypeError
from sayso.events import RequestCancelledEvent, UserInputRequest, UserInputResponse
from sayso.forms import NO_INPUTS, Inputs
from sayso.testing.builders import PATIENCE_SECONDS

RUN = RunRef("librarian", "s-1")
ALICE = "slack:U0ALICE"


@dataclass(frozen=True, slots=True)
class Loan:
    """For how many weeks a book may be kept; none unless somebody said so."""

    weeks: int
    outcome: Outcome


class LoanRequestEvent(UserInputRequest):
    result_type = Loan

    type: Literal["LOAN_REQUEST"] = "LOAN_REQUEST"
    loan_id: str
    title: str

    @property
    def question_id(self) -> str:
        return self.loan_id

    @property
    def subject(self) -> str:
        return "loan"

    def card(self) -> CardBody:
        choices = (Choice("four", "Four weeks"), Choice("none", "No"))
        return CardBody(title=self.title, facts=self.origin, choices=choices)

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> LoanResponseEvent:
        assert not inputs
        return LoanResponseEvent(
            loan_id=self.loan_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            weeks=4 if choice.key == "four" else 0,
        )

    def result(self, ending: Resolution) -> Loan:
        return Loan(getattr(ending, "weeks", 0), ending.outcome)


class LoanResponseEvent(UserInputResponse):
    type: Literal["LOAN_RESPONSE"] = "LOAN_RESPONSE"
    loan_id: str
    weeks: int

    @property
    def question_id(self) -> str:
        return self.loan_id

    @property
    def outcome(self) -> Outcome:
        return Outcome.APPROVED if self.weeks else Outcome.DENIED


@dataclass(frozen=True, slots=True)
class Lend(Question[LoanRequestEvent, Loan]):
    title: str

    def request(self, question_id: str, fields: dict[str, Any]) -> LoanRequestEvent:
        return LoanRequestEvent(loan_id=question_id, title=self.title, **fields)


class LendInDays(Lend):
    """Says more than its request does."""

    def result(self, request: LoanRequestEvent, ending: Resolution) -> Loan:
        found = super().result(request, ending)
        return Loan(found.weeks * 7, found.outcome)


async def asked(gate: Gate) -> str:
    """The id of the question that is open, as soon as there is one."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (pending := await gate.backend.store.list_requests()):
            await asyncio.sleep(0)
    return pending[0].request.question_id


@pytest.mark.parametrize(
    ("inquiry", "key", "loan"),
    [
        (Lend("Emma"), "four", Loan(4, Outcome.APPROVED)),
        (Lend("Emma"), "none", Loan(0, Outcome.DENIED)),
        (LendInDays("Emma"), "four", Loan(28, Outcome.APPROVED)),
    ],
)
async def test_it_is_asked_and_its_result_is_what_it_says(
    inquiry: Lend, key: str, loan: Loan
) -> None:
    async with Orchestrator.open("memory://") as people:
        gate = people.add(RUN)
        asking = asyncio.create_task(gate.ask(inquiry, timeout=30, path=["shelf"]))
        question_id = await asked(gate)
        record = await gate.backend.store.get(question_id)
        await people.choose(question_id, key, by=ALICE)

        assert await asking == loan
    assert record is not None
    assert record.request.path == ("shelf",)


async def test_it_is_submitted_and_resumed_by_the_type_of_its_result() -> None:
    async with Orchestrator.open("memory://") as people:
        gate = people.add(RUN)
        question_id = await gate.submit(Lend("Emma"))
        await people.choose(question_id, "four", by=ALICE)

        assert await gate.resume(question_id, expect=Loan) == Loan(4, Outcome.APPROVED)


async def test_that_nobody_answered_is_a_result_too() -> None:
    async with Gate.open("memory://", run=RUN) as gate:
        question_id = await gate.submit(Lend("Emma"))
        ending = await gate.cancel(question_id)

        assert isinstance(ending, RequestCancelledEvent)
        assert await gate.resume(question_id, expect=Loan) == Loan(0, Outcome.CANCELLED)


async def test_another_type_is_refused_before_anybody_has_answered() -> None:
    async with Gate.open("memory://", run=RUN) as gate:
        question_id = await gate.submit(Lend("Emma"))

        with pytest.raises(WrongRequestTypeError, match=r"'loan' .* in Clarification"):
            await gate.resume(question_id, expect=Clarification)


async def test_a_description_is_not_lost_in_silence() -> None:
    async with Gate.open("memory://", run=RUN) as gate:
        with pytest.raises(ValueError, match="only a call has a description"):
            await gate.ask(Lend("Emma"), description="x")  # type: ignore[call-arg]
