"""Questions that are no calls: submitted here, resumed there, each with its own kind of result."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from pydantic import BaseModel

from sayso import (
    ApproveText,
    CheckResult,
    Clarification,
    Clarify,
    Collect,
    Collected,
    Continuation,
    Continue,
    Gate,
    Orchestrator,
    Outcome,
    Question,
    RunRef,
    TextApproval,
    ToolCall,
)
from sayso.errors import (
    AlreadyResolvedError,
    InvalidInputError,
    RequestNotFoundError,
    SchemaError,
    WaitTimeoutError,
    WrongRequestTypeError,
)
from sayso.forms.form_values import Inputs
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store

RUN = RunRef("deploy-bot", "s-1", run_id="r-1")


class Order(BaseModel):
    size: int


SCHEMA = Order.model_json_schema()
KINDS: list[tuple[Question[Any, Any], str, Inputs | None, type[Any], Any]] = [
    (
        Clarify("Which?", options=["a", "b"]),
        "option-2",
        None,
        Clarification,
        Clarification(Outcome.ANSWERED, "b", "", "slack:U0ALICE"),
    ),
    (
        Clarify("Which?"),
        "answer",
        {"answer": "c"},
        Clarification,
        Clarification(Outcome.ANSWERED, "c", "", "slack:U0ALICE"),
    ),
    (
        ApproveText("a plan", title="Plan"),
        "approve",
        None,
        TextApproval,
        TextApproval(Outcome.APPROVED, "a plan", "", "slack:U0ALICE"),
    ),
    (
        ApproveText("a plan"),
        "changes",
        {"reason": "longer"},
        TextApproval,
        TextApproval(Outcome.DENIED, None, "longer", "slack:U0ALICE", asks_for_changes=True),
    ),
    (
        Collect(SCHEMA, "How large?"),
        "fill-in",
        {"size": 3},
        Collected,
        Collected(Outcome.ANSWERED, {"size": 3}, "", "slack:U0ALICE"),
    ),
    (
        Collect(Order, "How large?"),
        "fill-in",
        {"size": 3},
        Order,
        Collected(Outcome.ANSWERED, Order(size=3), "", "slack:U0ALICE"),
    ),
    (
        Continue(10, 10, amounts=(3,), description="nearly there"),
        "continue-3",
        None,
        Continuation,
        Continuation(Outcome.APPROVED, 3, "3 more iterations", "slack:U0ALICE"),
    ),
]


@pytest.fixture(params=["memory", "redis"])
async def processes(request: pytest.FixtureRequest) -> AsyncIterator[list[Backend]]:
    """The backends of three processes: who asks, who answers, who resumes. In memory one is all."""
    async with AsyncExitStack() as stack:
        if request.param == "memory":
            yield [await stack.enter_async_context(open_store("memory://"))] * 3
            return
        url = request.getfixturevalue("store_url")
        yield [await stack.enter_async_context(open_store(url)) for _ in range(3)]


@pytest.mark.parametrize(("inquiry", "key", "inputs", "expect", "result"), KINDS)
async def test_a_question_submitted_here_is_resumed_there(
    processes: list[Backend],
    inquiry: Question[Any, Any],
    key: str,
    inputs: Inputs | None,
    expect: type[Any],
    result: Any,
) -> None:
    asking, answering, resuming = processes
    async with Gate.open(asking, run=RUN, timeout=60) as gate:
        question_id = await gate.submit(inquiry, source_name="planner", path=["researcher"])
    async with Orchestrator.open(answering) as people:
        people.add(RUN)
        await people.choose(question_id, key, by="slack:U0ALICE", inputs=inputs)
    async with Gate.open(resuming, run=RUN) as gate:
        resumed = await gate.resume(question_id, timeout=10, expect=expect)
        again = await gate.resume(question_id, expect=expect)
    record = await resuming.store.get(question_id)

    assert resumed == again == result
    assert record is not None
    assert (record.request.source_name, record.request.asker) == (
        "planner",
        "deploy-bot › researcher",
    )


async def test_what_is_still_open_can_be_resumed_later(processes: list[Backend]) -> None:
    asking, _, resuming = processes
    async with Gate.open(asking, run=RUN, timeout=60) as gate:
        question_id = await gate.submit(Clarify("Which?"))
    async with Gate.open(resuming, run=RUN) as gate:
        with pytest.raises(WaitTimeoutError):
            await gate.resume(question_id, timeout=0.3, expect=Clarification)
        await gate.cancel(question_id, reason="no longer needed")
        answer = await gate.resume(question_id, expect=Clarification)

    assert answer == Clarification(
        Outcome.CANCELLED, None, "not answered: the question was cancelled: no longer needed"
    )


@pytest.mark.parametrize(("inquiry", "key", "inputs", "expect", "result"), KINDS)
async def test_nobody_answering_is_a_result_and_no_answer(
    processes: list[Backend],
    inquiry: Question[Any, Any],
    key: str,
    inputs: Inputs | None,
    expect: type[Any],
    result: Any,
) -> None:
    async with Gate.open(processes[0], run=RUN) as gate:
        question_id = await gate.submit(inquiry, timeout=0.3)
        resumed = await gate.resume(question_id, timeout=10, expect=expect)

    assert resumed.outcome is Outcome.EXPIRED
    assert "nobody answered in time" in resumed.reason
    for name in ("answer", "text", "data", "extra", "approved", "answered"):
        assert not getattr(resumed, name, None)


async def test_another_kind_of_result_than_was_asked_for_is_a_clear_error() -> None:
    async with Gate.open("memory://", run=RUN) as gate:
        question = await gate.submit(Clarify("Which?"))
        call = await gate.submit(ToolCall("bash"))
        assert isinstance(call, str)

        with pytest.raises(
            WrongRequestTypeError, match=r"'clarification' .* in CheckResult; .*expect="
        ):
            await gate.resume(question)
        with pytest.raises(WrongRequestTypeError, match=r"'clarification' .* in TextApproval"):
            await gate.resume(question, expect=TextApproval)
        with pytest.raises(WrongRequestTypeError, match=r"'bash' .* in Clarification"):
            await gate.resume(call, expect=Clarification)
        with pytest.raises(WrongRequestTypeError, match="in Order"):
            await gate.resume(call, expect=Order)
        with pytest.raises(WrongRequestTypeError, match="in str"):
            await gate.resume(question, expect=str)
        with pytest.raises(RequestNotFoundError):
            await gate.resume("nope", expect=Clarification)


async def test_a_verdict_can_be_expected_by_name() -> None:
    async with Gate.open("memory://", run=RUN) as gate:
        call = await gate.submit(ToolCall("bash"), timeout=0.3)
        assert isinstance(call, str)
        verdict = await gate.resume(call, expect=CheckResult)

    assert verdict.outcome is Outcome.EXPIRED


async def test_what_makes_no_sense_is_refused_before_anybody_is_asked() -> None:
    async with Gate.open("memory://", run=RUN) as gate:
        with pytest.raises(SchemaError):
            await gate.submit(Collect({"type": "array"}, "What?"))
        with pytest.raises(ValueError, match="question"):
            await gate.submit(Clarify(" "))
        with pytest.raises(ValueError, match="only a call has"):
            await gate.submit(Clarify("Which?"), description="x")  # type: ignore[call-overload]
        with pytest.raises(ValueError, match="timeout"):
            await gate.submit(Clarify("Which?"), timeout=0)

        assert await gate.backend.store.list_requests() == []


async def test_inputs_that_do_not_fit_decide_nothing() -> None:
    async with Orchestrator.open("memory://") as people:
        gate = people.add(RUN)
        question_id = await gate.submit(Collect(Order, "How large?"))
        for key, inputs, error in (
            ("fill-in", {"size": "large"}, InvalidInputError),
            ("fill-in", {"sise": 3}, InvalidInputError),
            ("fill-in", {}, InvalidInputError),
            ("fill-in", None, ValueError),
            ("decline", {"size": 3}, ValueError),
            ("allow", None, ValueError),
        ):
            with pytest.raises(error):
                await people.choose(question_id, key, by="slack:U0ALICE", inputs=inputs)

        await people.choose(question_id, "decline", by="slack:U0ALICE")
        with pytest.raises(AlreadyResolvedError):
            await people.choose(question_id, "fill-in", by="slack:U0BOB", inputs={"size": 3})
        answer = await gate.resume(question_id, expect=Order)

    assert (answer.outcome, answer.data) == (Outcome.DENIED, None)
