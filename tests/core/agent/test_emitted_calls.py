"""Calls that a middleware asks about by itself: denials count, and answers cannot be made up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from support.denials import always_deny

from sayso import (
    Chain,
    Decision,
    Gate,
    Orchestrator,
    Outcome,
    Policy,
    Rule,
    RulePolicy,
    RunRef,
    ToolCall,
    WaitTimeoutError,
)
from sayso.events import Event, PermissionRequestEvent, PermissionResponseEvent
from sayso.policy.decision import PolicyContext
from sayso.questions.permission import calls_of
from sayso.questions.permission_answer import PermissionApprovedEvent
from sayso.rules.rule import DenyRule
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_response, soon

RUN = RunRef("deploy-bot", "s-1")
NO_RM = RulePolicy(deny=[Rule("bash", {"command": "rm *"})])


@pytest.fixture
async def backend(store: str) -> AsyncIterator[Backend]:
    async with open_store(store) as backend:
        yield backend


def asking(command: str) -> PermissionRequestEvent:
    return a_request(tool="bash", arguments={"command": command}, run=RUN)


async def answer(gate: Gate, request: PermissionRequestEvent) -> PermissionResponseEvent:
    return await gate.wait_for_response(PermissionResponseEvent, request.permission_id, timeout=30)


async def jobs_of(backend: Backend, count: int) -> list[str]:
    async with backend.outbox.jobs("test") as jobs:
        return [(await soon(jobs)).kind for _ in range(count)]


@pytest.mark.parametrize("policy", [NO_RM, Chain(RulePolicy(), NO_RM)], ids=["rules", "chain"])
async def test_an_emitted_call_that_a_deny_rule_denies_is_not_asked(
    backend: Backend, policy: Policy
) -> None:
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        request = asking("rm x")
        await gate.emit(request)

        response = await answer(gate, request)

    assert (response.approved, response.line) == (False, "deny rule 1")
    assert response.decided_by is None
    assert await jobs_of(backend, 1) == ["end"]
    assert [entry.kind for entry in await backend.audit.read(5)] == ["asked", "denied"]


async def test_an_emitted_call_that_is_always_denied_is_not_asked(backend: Backend) -> None:
    request = asking("ls")
    rule_id = await always_deny(backend, calls_of(request)[0], RUN)
    async with Gate.open(backend, run=RUN) as gate:
        # As if it knew nothing yet of what the session remembers.
        await gate.emit(request)

        response = await answer(gate, request)

    assert (response.approved, response.line) == (False, "remembered always deny")
    assert rule_id in response.reason


async def test_an_emitted_call_whose_id_is_denied_is_not_asked(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        request = asking("ls")
        gate.deny_call(request.call_id, reason="stopped by Alice")
        await gate.emit(request)

        assert (await answer(gate, request)).reason == "stopped by Alice"


async def test_deny_rules_that_the_middleware_gave_count(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        mine = DenyRule("my rule", Rule("bash", {"command": "rm *"}))
        request = asking("rm x").model_copy(update={"deny_rules": (mine,)})
        await gate.emit(request)

        assert (await answer(gate, request)).line == "my rule"


async def test_an_always_deny_after_an_emitted_call_was_asked_denies_its_approval(
    backend: Backend,
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        request = asking("ls")
        await gate.emit(request)
        await always_deny(backend, calls_of(request)[0], RUN)
        settled = await backend.store.settle(request.permission_id, a_response(request))

        assert settled.forbidden
        assert not (await answer(gate, request)).approved


async def test_an_always_deny_after_the_approval_of_an_emitted_call_denies_it(
    backend: Backend,
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        request = asking("ls")
        await gate.emit(request)
        await backend.store.settle(request.permission_id, a_response(request))
        await always_deny(backend, calls_of(request)[0], RUN)

        assert not (await answer(gate, request)).approved

    record = await backend.store.get(request.permission_id)
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome is Outcome.DENIED


async def test_an_emitted_call_carries_the_deny_rules_of_the_policy(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN, policy=NO_RM) as gate:
        request = asking("ls x")
        await gate.emit(request)
        now = datetime.now(UTC)
        edited = request.approve(by="slack:U0ALICE", at=now, modified_arguments={"command": "rm x"})
        settled = await backend.store.settle(request.permission_id, edited)

        assert settled.forbidden
        assert (await answer(gate, request)).line == "deny rule 1"


async def test_an_emitted_call_that_nothing_denies_is_asked_whatever_would_allow_it(
    backend: Backend,
) -> None:
    def allow_all(call: ToolCall, context: PolicyContext) -> Decision:
        del call, context
        return Decision.ALLOW

    async with Gate.open(backend, run=RUN, policy=allow_all) as gate:
        request = asking("ls")
        await gate.emit(request)

        assert await jobs_of(backend, 1) == ["ask"]
        await backend.store.settle(request.permission_id, a_response(request))
        assert (await answer(gate, request)).approved


async def test_an_approval_that_nobody_recorded_cannot_be_emitted(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate, gate.events() as events:
        request = asking("ls")
        await gate.emit(request)
        response = a_response(request)
        told = PermissionApprovedEvent(
            permission_id=request.permission_id,
            source_name=request.source_name,
            decided_at=response.decided_at,
        )

        made_up: tuple[Event, ...] = (response, response.observed, told)
        for event in made_up:
            with pytest.raises(ValueError, match="told by the store alone"):
                await gate.emit(event)
        with pytest.raises(WaitTimeoutError):
            await gate.wait_for_response(PermissionResponseEvent, request.permission_id, 0.1)

        await backend.store.settle(request.permission_id, a_response(request, approved=False))
        heard = [type(await soon(events)).__name__ for _ in range(2)]
    assert heard == ["PermissionRequestEvent", "PermissionDeniedEvent"]


async def test_an_orchestrator_hears_no_outcome_that_the_store_did_not_tell(
    backend: Backend,
) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        gate = orchestrator.add(RUN)
        events = orchestrator.events()
        await orchestrator.listening()
        request = asking("ls")
        await gate.emit(request)
        with pytest.raises(ValueError, match="told by the store alone"):
            await gate.emit(a_response(request))
        await gate.cancel(request.permission_id)

        heard = [type((await soon(events))[1]).__name__ for _ in range(2)]
        assert heard == ["PermissionRequestEvent", "RequestCancelledEvent"]
