"""Nothing comes before a denial where code answers, either."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from support.denials import always_deny

from sayso import (
    CheckResult,
    Decision,
    Gate,
    Orchestrator,
    Outcome,
    PolicyContext,
    Rule,
    RulePolicy,
    RunRef,
    ToolCall,
)
from sayso.errors import AlreadyResolvedError
from sayso.events import Event, PermissionRequestEvent
from sayso.rules.rule import DenyRule
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_request, until

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls x"})


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def asked(backend: Backend, gate: Gate) -> tuple[asyncio.Task[CheckResult], str]:
    waiting = asyncio.create_task(gate.check(LS, timeout=30))
    await until(backend.store.list_requests)
    [record] = await backend.store.list_requests()
    return waiting, record.request.question_id


async def test_an_orchestrator_that_approves_what_is_always_denied_is_told_and_so_is_the_agent(
    backend: Backend,
) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        waiting, permission_id = await asked(backend, orchestrator.add(RUN))
        rule_id = await always_deny(backend, LS, RUN)

        with pytest.raises(AlreadyResolvedError, match="cannot be approved") as told:
            await orchestrator.resolve(permission_id, approved=True, by="slack:U0ALICE")

        assert rule_id in told.value.reason
        assert (await waiting).outcome is Outcome.DENIED
        record = await backend.store.get(permission_id)
        assert record is not None
        assert record.ending is not None
        assert record.ending.outcome is Outcome.DENIED


async def test_an_orchestrator_cannot_edit_a_call_into_what_a_deny_rule_denies(
    backend: Backend,
) -> None:
    policy = RulePolicy(deny=[Rule("bash", {"command": "rm *"})])
    async with Orchestrator.open(backend) as orchestrator:
        waiting, permission_id = await asked(backend, orchestrator.add(RUN, policy=policy))

        with pytest.raises(AlreadyResolvedError, match="deny rule 1"):
            await orchestrator.choose(
                permission_id,
                "edit",
                by="slack:U0ALICE",
                inputs={"arguments": '{"command": "rm x"}'},
            )

        assert (await waiting).line == "deny rule 1"


async def test_a_batch_hears_the_denials_that_were_recorded(backend: Backend) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        gate = orchestrator.add(RUN)
        submitted = await gate.submit_batch([LS])
        [one] = submitted
        assert one.permission_id is not None
        await always_deny(backend, LS, RUN)

        with pytest.raises(AlreadyResolvedError):
            await orchestrator.resolve(one.permission_id, approved=True, by="slack:U0ALICE")

        [verdict] = await gate.resume_batch(submitted)
        assert isinstance(verdict, CheckResult)
        assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "remembered always deny")


async def test_rules_that_came_while_a_question_was_open_deny_what_an_orchestrator_approves(
    backend: Backend,
) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        waiting, permission_id = await asked(backend, orchestrator.add(RUN))
        orchestrator.update_permissions(RUN, deny=[Rule("bash")])

        with pytest.raises(AlreadyResolvedError, match="updated deny rule 1"):
            await orchestrator.resolve(permission_id, approved=True, by="slack:U0ALICE")

        assert (await waiting).line == "updated deny rule 1"
        kinds = [entry.kind for entry in await backend.audit.read(5)]
        assert kinds == ["asked", "denied"]


async def test_a_call_id_denied_while_a_question_was_open_denies_what_an_orchestrator_approves(
    backend: Backend,
) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        gate = orchestrator.add(RUN)
        waiting, permission_id = await asked(backend, gate)
        gate.deny_call(LS.call_id, reason="stopped by Alice")

        with pytest.raises(AlreadyResolvedError, match="stopped by Alice"):
            await orchestrator.resolve(permission_id, approved=True, by="slack:U0BOB")

        assert not (await waiting).approved


async def test_a_policys_own_question_about_a_call_carries_its_deny_rules(
    backend: Backend,
) -> None:
    rules = RulePolicy(deny=[Rule("bash", {"command": "rm *"})])

    class Own:
        """Asks by itself, and lets a person change the call."""

        def deny_rules(self, call: ToolCall, context: PolicyContext) -> Sequence[DenyRule]:
            return rules.deny_rules(call, context)

        async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
            assert context.ask is not None
            own = a_request(tool=call.name, arguments=call.arguments, run=context.run)
            ending = await context.ask(own)
            said = Decision.ALLOW if ending.outcome is Outcome.APPROVED else Decision.DENY
            return said.because(ending.reason)

    async with Gate.open(backend, run=RUN, policy=Own()) as gate:
        waiting, own = await asked(backend, gate)
        record = await backend.store.get(own)
        assert record is not None
        assert isinstance(record.request, PermissionRequestEvent)
        edited = record.request.approve(by="slack:U0BOB", modified_arguments={"command": "rm x"})

        settled = await backend.store.settle(own, edited)

        assert settled.forbidden
        assert not (await waiting).approved


async def test_an_approval_that_comes_to_nothing_for_want_of_time_is_corrected_too(
    backend: Backend,
) -> None:
    class Slow:
        """A policy that never says whether it denies what a person approved."""

        def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
            del call, context
            return Decision.ASK

        async def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
            del call, context
            return await asyncio.Future()

    told: list[Event] = []
    async with Gate.open(backend, run=RUN, policy=Slow(), observe=told.append) as gate:
        waiting = asyncio.create_task(gate.check(LS, timeout=0.2))
        await until(backend.store.list_requests)
        [record] = await backend.store.list_requests()
        assert isinstance(record.request, PermissionRequestEvent)
        approval = record.request.approve(by="slack:U0BOB")
        assert (await backend.store.settle(approval.question_id, approval)).first

        assert not (await waiting).approved
    ended = await backend.store.get(approval.question_id)
    assert ended is not None
    assert ended.ending is not None
    assert ended.ending.outcome is Outcome.DENIED
    assert ended.ending.reason.startswith("approved by slack:U0BOB, then denied by the agent: ")
    assert [type(event).__name__ for event in told][-1] == "PermissionDeniedEvent"
