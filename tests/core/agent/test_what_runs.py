"""What was approved is what runs, on every door, whoever else holds the arguments meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel
from support.outbox import next_request

from sayso import CheckResult, Gate, Orchestrator, RunRef, ToolCall
from sayso.agent.copies import own
from sayso.agent.tools.wrap import LocalGate
from sayso.agent.verdict import sealed
from sayso.digests import arguments_digest
from sayso.errors import ArgumentsChangedError
from sayso.events import Outcome, RequestCancelledEvent
from sayso.policy.decision import Decision, PolicyContext
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend

RUN = RunRef("deploy-bot", "s-1")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAFE = {"files": ["a.txt"], "deep": {"mode": ["r"]}}


def some() -> dict[str, Any]:
    return {"files": ["a.txt"], "deep": {"mode": ["r"]}}


def spoil(arguments: Any) -> None:
    arguments["files"].append("/etc/passwd")
    arguments["deep"]["mode"][:] = ["w"]


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def answered(backend: Backend, **changes: Any) -> PermissionRequestEvent:
    request = await next_request(backend)
    response = request.approve(by="slack:U0ALICE", at=datetime.now(UTC), **changes)
    await backend.store.settle(request.permission_id, response)
    return request


class Hoarder:
    """A policy that keeps what it was asked about, and changes it while a person is asked."""

    def __init__(self, decision: Decision = Decision.ASK) -> None:
        self.kept: list[Any] = []
        self._decision = decision

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        del context
        self.kept.append(call.arguments)
        return self._decision


async def test_a_verdict_shares_nothing_with_the_call_that_was_handed_in(backend: Backend) -> None:
    arguments = some()
    async with Gate.open(backend, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check(ToolCall("edit", arguments)))
        await answered(backend)
        verdict = await waiting

    spoil(arguments)
    assert verdict.arguments == SAFE


async def test_a_call_that_changes_while_it_is_asked_about_is_refused(backend: Backend) -> None:
    arguments = some()
    async with Gate.open(backend, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check(ToolCall("edit", arguments)))
        request = await next_request(backend)
        spoil(arguments)
        approval = request.approve(by="slack:U0ALICE", at=datetime.now(UTC))
        await backend.store.settle(request.permission_id, approval)

        with pytest.raises(ArgumentsChangedError):
            await waiting

    assert request.arguments == SAFE


async def test_what_a_policy_kept_of_a_call_does_not_run_when_it_changes_it(
    backend: Backend,
) -> None:
    policy = Hoarder()
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        waiting = asyncio.create_task(gate.check(ToolCall("edit", some())))
        request = await next_request(backend)
        for kept in policy.kept:
            spoil(kept)
        approval = request.approve(by="slack:U0ALICE", at=datetime.now(UTC))
        await backend.store.settle(request.permission_id, approval)

        with pytest.raises(ArgumentsChangedError):
            await waiting


async def test_what_a_policy_allowed_is_what_runs(backend: Backend) -> None:
    arguments, policy = some(), Hoarder(Decision.ALLOW)
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        verdict = await gate.check(ToolCall("edit", arguments))

    for held in (arguments, *policy.kept):
        spoil(held)
    assert verdict.arguments == SAFE


async def test_arguments_that_a_policy_put_in_are_copied_too(backend: Backend) -> None:
    put_in = some()
    policy = Hoarder(Decision.ALLOW.with_arguments(put_in))
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        verdict = await gate.check(ToolCall("edit", {}))

    spoil(put_in)
    assert verdict.arguments == SAFE


async def test_a_submitted_call_is_resumed_as_it_was_approved(backend: Backend) -> None:
    arguments = some()
    async with Gate.open(backend, run=RUN) as gate:
        question_id = await gate.submit(ToolCall("edit", arguments))
        spoil(arguments)
        assert isinstance(question_id, str)
        await answered(backend)
        first = await gate.resume(question_id)
        spoil(first.arguments)
        second = await gate.resume(question_id)

    assert second.arguments == SAFE


async def test_changed_arguments_are_copied_for_each_who_asks(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        question_id = await gate.submit(ToolCall("edit", {"files": []}))
        assert isinstance(question_id, str)
        await answered(backend, modified_arguments=some())
        first = await gate.resume(question_id)
        spoil(first.arguments)
        second = await gate.resume(question_id)

    assert second.arguments == SAFE


async def test_a_batch_asks_about_what_was_handed_in(backend: Backend) -> None:
    first, second = some(), some()
    calls = [ToolCall("edit", first, "one"), ToolCall("edit", second, "two")]
    async with Gate.open(backend, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check_batch(calls))
        shown = [await answered(backend)]
        spoil(first)
        spoil(second)
        shown.append(await answered(backend))
        verdicts = await waiting

    assert [request.arguments for request in shown] == [SAFE, SAFE]
    assert [verdict.arguments for verdict in verdicts] == [SAFE, SAFE]


async def test_a_submitted_batch_asks_about_what_was_handed_in(backend: Backend) -> None:
    arguments = some()
    async with Gate.open(backend, run=RUN) as gate:
        submitted = await gate.submit_batch([ToolCall("edit", arguments, "one")])
        spoil(arguments)
        await answered(backend)
        (verdict,) = await gate.resume_batch(submitted)

    assert isinstance(verdict, CheckResult)
    assert verdict.arguments == SAFE


async def test_a_guarded_function_gets_what_was_approved(backend: Backend) -> None:
    got: list[Any] = []
    arguments = some()

    async with Gate.open(backend, run=RUN) as gate:

        @gate.guard
        async def edit(files: list[str], deep: dict[str, list[str]]) -> None:
            got.append({"files": files, "deep": deep})

        waiting = asyncio.create_task(edit(**arguments))
        await answered(backend)
        await waiting

    spoil(arguments)
    assert got == [SAFE]


async def test_the_gate_of_an_orchestrator_keeps_the_same_promise(backend: Backend) -> None:
    arguments = some()
    async with Orchestrator.open(backend) as orchestrator:
        gate = orchestrator.add(RUN)
        waiting = asyncio.create_task(gate.check(ToolCall("edit", arguments)))
        await answered(backend)
        verdict = await waiting

    spoil(arguments)
    assert verdict.arguments == SAFE


async def test_a_wrapped_tool_keeps_the_same_promise() -> None:
    arguments = some()

    async def yes(tool: str, shown: dict[str, Any], reason: str) -> bool:
        del tool, reason
        spoil(shown)
        return True

    verdict = await LocalGate(Hoarder(), yes).check(ToolCall("edit", arguments))
    spoil(arguments)

    assert verdict.arguments == SAFE


def test_a_verdict_is_sealed_with_the_arguments_of_its_digest_alone() -> None:
    verdict = CheckResult(Outcome.APPROVED, "edit", some())
    digest = arguments_digest(SAFE)

    ending = RequestCancelledEvent(request_id="r", source_name="s", decided_at=NOW)

    given = sealed(verdict, digest, ending)
    spoil(verdict.arguments)

    assert given.arguments == SAFE
    with pytest.raises(ArgumentsChangedError):
        sealed(verdict, digest, ending)


class _Model(BaseModel):
    names: list[str]


@dataclass
class _Data:
    names: list[str]


def test_lists_mappings_models_and_dataclasses_are_copied_and_other_objects_passed_on() -> None:
    connection, model, data = object(), _Model(names=["a"]), _Data(["a"])
    arguments = {
        "c": connection,
        "m": model,
        "d": data,
        "t": ([1], (2,)),
        "when": NOW,
    }

    copied = own(arguments)
    model.names.append("b")
    data.names.append("b")

    assert copied["c"] is connection
    assert copied["m"].names == ["a"]
    assert copied["d"].names == ["a"]
    assert copied["t"] == ([1], (2,))
    assert copied["t"][0] is not arguments["t"][0]  # type: ignore[index]
    assert copied["when"] == NOW
