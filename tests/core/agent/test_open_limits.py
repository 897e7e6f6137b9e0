"""An agent with as many open requests as the server allows is told so, and nobody is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from sayso import CheckResult, Gate, Outcome, RunRef, ToolCall
from sayso.errors import RequestUnansweredError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import OpenLimits
from sayso.testing import a_request

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})
WHY = "agent 'deploy-bot' has as many open requests as the server allows, 2 (open_per_agent in its"


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    """A store whose desks allow two open requests, which are open."""
    async with memory_backend() as backend, Gate.open(backend, run=RUN) as gate:
        await backend.outbox.heartbeat("desk", seconds=60, limits=OpenLimits(per_agent=2))
        for command in ("one", "two"):
            assert isinstance(await gate.submit(ToolCall("bash", {"command": command})), str)
        yield backend


@pytest.fixture
async def gate(backend: Backend) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RUN, timeout=20) as gate:
        yield gate


async def test_one_call_more_is_not_approved_and_the_model_is_told_why(
    gate: Gate, backend: Backend
) -> None:
    verdict = await gate.check(CALL)

    assert (verdict.approved, verdict.outcome) == (False, Outcome.UNDELIVERABLE)
    assert verdict.reason.startswith(WHY)
    assert f"nobody could be asked: {WHY}" in verdict.as_tool_result()
    assert len(await backend.store.list_requests()) == 2


async def test_a_call_that_is_submitted_has_its_verdict_at_once(gate: Gate) -> None:
    said = await gate.submit(CALL)

    assert isinstance(said, CheckResult)
    assert said.outcome is Outcome.UNDELIVERABLE


async def test_the_calls_of_a_batch_are_told_so_each(gate: Gate) -> None:
    said = await gate.check_batch(
        [ToolCall("bash", {"command": command}) for command in ("three", "four")]
    )

    assert [one.as_tool_result().count(WHY) for one in said] == [1, 1]


async def test_another_kind_of_question_ends_undeliverable_too(gate: Gate) -> None:
    said = await gate.clarify("Which environment?")

    assert said.outcome is Outcome.UNDELIVERABLE
    assert WHY in said.reason


async def test_a_middleware_that_emits_a_request_is_told_by_an_error(gate: Gate) -> None:
    request = a_request(run=RUN).model_copy(
        update={"expires_at": datetime.now(UTC) + timedelta(seconds=20)}
    )

    with pytest.raises(RequestUnansweredError, match="deploy-bot"):
        await gate.emit(request)
