"""What is held against the policy once more before an approved call runs."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from support.outbox import next_request

from sayso import CheckResult, Gate, Outcome, RunRef, ToolCall
from sayso.policy.decision import Decision, PolicyContext
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend

RUN = RunRef("deploy-bot", "s-1")


class Looking:
    """A policy that asks about each call, and notes what it is shown of it afterwards."""

    def __init__(
        self,
        *,
        asks: Decision = Decision.ASK,
        denies: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    ) -> None:
        self.decided: list[Mapping[str, Any]] = []
        self.seen: list[Mapping[str, Any]] = []
        self._asks = asks
        self._denies = denies

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        del context
        self.decided.append(call.arguments)
        return self._asks

    def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        del context
        self.seen.append(copy.deepcopy(call.arguments))
        return Decision.DENY.because("not any more") if self._denies(call.arguments) else None


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def allowed(backend: Backend, policy: Looking, call: ToolCall, **changes: Any) -> CheckResult:
    """What comes of a call that a person allows."""
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        waiting = asyncio.create_task(gate.check(call))
        request = await next_request(backend)
        policy.seen.clear()
        answer = request.approve(by="slack:U0ALICE", at=datetime.now(UTC), **changes)
        await backend.store.settle(request.permission_id, answer)
        return await waiting


@pytest.mark.parametrize("arguments", [{"release": 42}, {"files": ["a.txt"]}, {}])
async def test_a_call_that_nobody_changed_is_looked_at_once(
    backend: Backend, arguments: dict[str, Any]
) -> None:
    policy = Looking()

    assert (await allowed(backend, policy, ToolCall("deploy", arguments))).approved
    assert policy.seen == [arguments]


async def test_what_a_person_made_of_the_arguments_is_looked_at_beside_what_was_asked(
    backend: Backend,
) -> None:
    policy = Looking()

    await allowed(backend, policy, ToolCall("deploy", {"to": 1}), modified_arguments={"to": 2})

    assert policy.seen == [{"to": 1}, {"to": 2}]


async def test_values_that_are_only_equal_are_another_call(backend: Backend) -> None:
    policy = Looking(denies=lambda arguments: arguments["force"] is not True)
    call = ToolCall("deploy", {"force": 1})

    verdict = await allowed(backend, policy, call, modified_arguments={"force": True})

    assert verdict.outcome is Outcome.DENIED


async def test_what_was_asked_for_before_the_policy_changed_it_is_looked_at_too(
    backend: Backend,
) -> None:
    policy = Looking(
        asks=Decision.ASK.with_arguments({"to": "staging"}),
        denies=lambda arguments: arguments["to"] == "production",
    )

    verdict = await allowed(backend, policy, ToolCall("deploy", {"to": "production"}))

    assert verdict.outcome is Outcome.DENIED


async def test_nobody_changes_what_is_looked_at_meanwhile(backend: Backend) -> None:
    def somebody_changes_theirs(arguments: Mapping[str, Any]) -> bool:
        (theirs,) = policy.decided
        theirs["files"].append("/etc/passwd")
        is_changed = arguments != {"files": ["a.txt"]}
        theirs["files"].pop()
        return is_changed

    policy = Looking(denies=somebody_changes_theirs)
    call = ToolCall("edit", {"files": ["a.txt"]})

    assert (await allowed(backend, policy, call)).approved
