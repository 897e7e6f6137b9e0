"""Nothing comes before a denial where code answers, either."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.denials import always_deny

from sayso import Gate, Orchestrator, Outcome, Rule, RulePolicy, RunRef, ToolCall, Verdict
from sayso.errors import DeniedByRuleError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import until

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls x"})


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def asked(backend: Backend, gate: Gate) -> tuple[asyncio.Task[Verdict], str]:
    waiting = asyncio.create_task(gate.check(LS, timeout=30))
    await until(backend.watch.pending)
    [record] = await backend.watch.pending()
    return waiting, record.request.question_id


async def test_an_orchestrator_that_approves_what_is_always_denied_is_told_and_so_is_the_agent(
    backend: Backend,
) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        waiting, permission_id = await asked(backend, orchestrator.add(RUN))
        rule_id = await always_deny(backend, LS, RUN)

        with pytest.raises(DeniedByRuleError, match="cannot be approved") as told:
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

        with pytest.raises(DeniedByRuleError, match="deny rule 1"):
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

        with pytest.raises(DeniedByRuleError):
            await orchestrator.resolve(one.permission_id, approved=True, by="slack:U0ALICE")

        [verdict] = await gate.resume_batch(submitted)
        assert isinstance(verdict, Verdict)
        assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "remembered always deny")
