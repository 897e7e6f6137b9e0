"""Nothing comes before a denial, whoever approves and whatever changes on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assent import Decision, Gate, Outcome, PermissionRequestEvent, Rule, RulePolicy, RunRef
from assent.backend import Backend
from assent.calls import ToolCall
from assent.memory import memory_backend
from assent.policy import Context
from assent.rules import RememberedRule, literal_rule
from assent.testing import a_request, a_response

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls"})


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def always(backend: Backend, effect: Any, call: ToolCall) -> None:
    """Store an Always for the session, as a press in another process does."""
    now = datetime.now(UTC)
    rule = RememberedRule(literal_rule(call), effect, "slack:U0ALICE", now, now + timedelta(1))
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    await backend.store.settle(request.permission_id, a_response(request), remember=rule)


async def asked(backend: Backend) -> PermissionRequestEvent:
    async with backend.outbox.jobs("test") as jobs:
        async for job in jobs:
            await backend.outbox.done(job)
            record = await backend.store.get(job.question_id)
            if job.kind == "ask" and record is not None and record.ending is None:
                assert isinstance(record.request, PermissionRequestEvent)
                return record.request
    raise AssertionError("the outbox ended")


async def test_always_deny_beats_a_policy_that_knows_nothing_of_it(backend: Backend) -> None:
    await always(backend, "deny", LS)

    def allow_all(call: ToolCall, context: Context) -> Decision:
        del call, context
        return Decision.ALLOW

    async with Gate.open(backend, run=RUN, policy=allow_all) as gate:
        verdict = await gate.check(LS)

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "remembered always deny"


async def test_always_deny_holds_for_the_arguments_that_a_policy_puts_in(backend: Backend) -> None:
    await always(backend, "deny", ToolCall("bash", {"command": "rm"}))

    def change(call: ToolCall, context: Context) -> dict[str, Any]:
        del call, context
        return {"command": "rm"}

    async with Gate.open(backend, run=RUN, policy=change) as gate:
        assert (await gate.check(LS)).outcome is Outcome.DENIED


async def test_changed_arguments_of_an_answer_do_not_pass_a_deny_rule(backend: Backend) -> None:
    policy = RulePolicy(deny=[Rule("bash", {"command": "rm*"})])
    async with Gate.open(backend, run=RUN, policy=policy, timeout=10) as gate:
        waiting = asyncio.create_task(gate.check(LS))
        request = await asked(backend)
        answer = request.approve(by="slack:U0ALICE", at=datetime.now(UTC))
        changed = answer.model_copy(update={"modified_arguments": {"command": "rm x"}})
        await backend.store.settle(request.permission_id, changed)

        assert (await waiting).outcome is Outcome.DENIED
