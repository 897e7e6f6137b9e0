"""A call that is checked under a key is asked about once, however often it is checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from support.keyed import (
    ALICE,
    DENY_DEPLOY,
    DEPLOY,
    RUN,
    always,
    approve,
    deny,
    question,
    until_withdrawn,
    waiters,
)

from sayso import (
    CheckResult,
    Decision,
    Gate,
    IdempotencyConflictError,
    Outcome,
    PolicyContext,
    Rule,
    RulePolicy,
    RunRef,
    ToolCall,
)
from sayso.events import Event
from sayso.stores.backend import Backend


@pytest.fixture
def told() -> list[Event]:
    return []


@pytest.fixture
async def gate(backend: Backend, told: list[Event]) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RUN, observe=told.append) as opened:
        yield opened


async def test_asked_once_fifty_callers_of_one_key_are_one_question(
    backend: Backend, gate: Gate
) -> None:
    checks = [asyncio.create_task(gate.check(DEPLOY, key="k")) for _ in range(50)]
    await approve(backend)

    verdicts = await asyncio.gather(*checks)

    assert {one.permission_id for one in verdicts} == {verdicts[0].permission_id}
    assert all(one.approved for one in verdicts)
    assert await backend.store.list_requests() == []


@pytest.mark.parametrize("end", [approve, deny])
async def test_a_recorded_verdict_comes_back_under_its_key(
    backend: Backend, gate: Gate, end: Any
) -> None:
    first = asyncio.create_task(gate.check(DEPLOY, key="k"))
    await end(backend)

    # In another process, another run of the session, under another id of the call.
    async with Gate.open(backend, run=RunRef("deploy-bot", "s-42", "b", "r")) as other:
        again = await other.check(ToolCall("deploy", {"service": "api"}), key="k")

    assert again == await first
    assert await backend.store.list_requests() == []


async def test_an_edited_approval_returns_the_edited_arguments_again(
    backend: Backend, gate: Gate
) -> None:
    first = asyncio.create_task(gate.check(DEPLOY, key="k"))
    await approve(backend, modified_arguments={"service": "staging"})

    for verdict in (await first, await gate.check(DEPLOY, key="k")):
        assert verdict.arguments == {"service": "staging"}
        assert verdict.asked_arguments == {"service": "api"}


@pytest.mark.parametrize(
    "other",
    [
        ToolCall("deploy", {"service": "db"}, "call-1"),
        ToolCall("deploy", {"service": "api", "force": True}, "call-1"),
        ToolCall("destroy", {"service": "api"}, "call-1"),
    ],
)
async def test_another_call_under_the_key_is_an_error_of_its_own(
    backend: Backend, gate: Gate, told: list[Event], other: ToolCall
) -> None:
    [first] = await waiters(gate, told, 1)

    with pytest.raises(IdempotencyConflictError, match="used before in this session"):
        await gate.check(other, key="k")
    with pytest.raises(IdempotencyConflictError):
        await gate.submit(other, key="k")

    assert len(await backend.store.list_requests()) == 1
    # Whoever was refused does not hold the question, either.
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await until_withdrawn(backend)


async def test_what_another_account_requested_is_not_joined(backend: Backend, gate: Gate) -> None:
    check = asyncio.create_task(gate.check(DEPLOY, key="k", requested_by="slack:U0CAROL"))
    await question(backend)

    with pytest.raises(IdempotencyConflictError, match="another account"):
        await gate.check(DEPLOY, key="k", requested_by=ALICE)

    await approve(backend)
    assert (await check).approved
    assert (await gate.check(DEPLOY, key="k")).approved


async def test_a_deny_rule_that_came_since_denies_what_was_approved_and_the_record_says_so(
    backend: Backend, gate: Gate
) -> None:
    first = asyncio.create_task(gate.check(DEPLOY, key="k"))
    await approve(backend)
    approved = await first

    async with Gate.open(backend, run=RUN, policy=DENY_DEPLOY) as other:
        verdict = await other.check(DEPLOY, key="k")

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "deny rule 1"
    record = await backend.store.get(str(approved.permission_id))
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome is Outcome.DENIED
    assert record.overruled is not None
    assert (await gate.check(DEPLOY, key="k")).outcome is Outcome.DENIED


async def test_an_always_deny_that_came_since_denies_what_was_approved(
    backend: Backend, gate: Gate
) -> None:
    first = asyncio.create_task(gate.check(DEPLOY, key="k"))
    await approve(backend)
    assert (await first).approved
    await always(backend, DEPLOY, allow=False)

    assert (await gate.check(DEPLOY, key="k")).outcome is Outcome.DENIED


async def test_an_open_question_that_the_policy_denies_by_now_ends_with_that_denial(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)

    async with Gate.open(backend, run=RUN, policy=DENY_DEPLOY) as other:
        verdict = await other.check(DEPLOY, key="k")

    assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "deny rule 1")
    assert (await first).outcome is Outcome.DENIED
    assert await backend.store.list_requests() == []


async def test_an_always_that_is_stored_in_between_answers_no_open_question(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)
    await always(backend, DEPLOY, allow=True)
    second = asyncio.create_task(gate.check(DEPLOY, key="k"))
    await deny(backend)

    assert (await first).outcome is (await second).outcome is Outcome.DENIED
    assert (await gate.check(DEPLOY, key="k")).outcome is Outcome.DENIED
    assert (await gate.check(DEPLOY, key="another")).approved


async def test_what_a_policy_decides_is_not_kept_under_the_key(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN, policy=RulePolicy(default="allow")) as lenient:
        assert (await lenient.check(DEPLOY, key="k")).approved
    async with Gate.open(backend, run=RUN, policy=DENY_DEPLOY) as strict:
        assert (await strict.check(DEPLOY, key="k")).outcome is Outcome.DENIED

    async with Gate.open(backend, run=RUN) as gate:
        check = asyncio.create_task(gate.check(DEPLOY, key="k"))
        await deny(backend)
        assert (await check).decided_by == ALICE


async def test_other_arguments_are_no_error_under_a_key_that_only_a_policy_has_answered(
    backend: Backend,
) -> None:
    other = replace(DEPLOY, arguments={"service": "db"})
    async with Gate.open(backend, run=RUN, policy=RulePolicy(default="allow")) as lenient:
        assert (await lenient.check(DEPLOY, key="k")).approved
        assert (await lenient.check(other, key="k")).arguments == {"service": "db"}

    async with Gate.open(backend, run=RUN) as gate:
        check = asyncio.create_task(gate.check(other, key="k"))
        await approve(backend)
        assert (await check).approved
        # From now on the key names the call that a person was asked about.
        with pytest.raises(IdempotencyConflictError):
            await gate.check(DEPLOY, key="k")


async def test_what_is_allowed_once_is_used_up_under_a_key_and_asks_when_the_call_comes_back(
    backend: Backend,
) -> None:
    once = RulePolicy(allow_once=[Rule("deploy")])
    async with Gate.open(backend, run=RUN, policy=once) as before:
        allowed = await before.check(DEPLOY, key="k")
    # Started again, as after a crash.
    async with Gate.open(backend, run=RUN, policy=once) as after:
        asked = asyncio.create_task(after.check(DEPLOY, key="k"))
        await deny(backend)
        assert (await asked).decided_by == ALICE
        assert (await after.check(DEPLOY, key="k")).decided_by == ALICE

    assert allowed.line == "allow-once rule 1"


async def test_a_replay_uses_nothing_up_and_asks_no_question_of_the_policys_own(
    backend: Backend,
) -> None:
    seen: list[str] = []

    async def policy(call: ToolCall, context: PolicyContext) -> Decision | None:
        seen.append(call.call_id)
        return None

    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        first = asyncio.create_task(gate.check(DEPLOY, key="k"))
        await approve(backend)
        assert (await first).approved
        before = len(seen)
        assert (await gate.check(DEPLOY, key="k")).approved

    assert len(seen) == before


async def test_the_arguments_a_policy_put_in_come_back_and_the_key_is_of_what_was_called(
    backend: Backend,
) -> None:
    moments = iter(range(10))

    def policy(_: ToolCall, __: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments({"service": "api", "at": next(moments)})

    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        first = asyncio.create_task(gate.check(DEPLOY, key="k"))
        await approve(backend)
        for verdict in (await first, await gate.check(DEPLOY, key="k")):
            assert verdict.arguments == {"service": "api", "at": 0}
        with pytest.raises(IdempotencyConflictError):
            await gate.check(replace(DEPLOY, arguments={"service": "api", "at": 0}), key="k")


async def test_whoever_joins_runs_with_its_own_values(backend: Backend, gate: Gate) -> None:
    day = datetime(2026, 1, 2, tzinfo=UTC)
    call = ToolCall("deploy", {"at": day}, "call-1")
    first = asyncio.create_task(gate.check(call, key="k"))
    await approve(backend)

    assert (await first).arguments == (await gate.check(call, key="k")).arguments == {"at": day}


async def test_another_key_asks_anew_about_a_call_that_this_iteration_has_an_answer_for(
    backend: Backend, gate: Gate
) -> None:
    submitted = await gate.submit_batch([DEPLOY], keys=["turn-1"])
    await approve(backend)
    [first] = await gate.resume_batch(submitted)

    again = await gate.submit(DEPLOY, key="turn-2")

    assert isinstance(first, CheckResult)
    assert first.approved
    assert isinstance(again, str)
    assert (await question(backend)).permission_id == again
    assert await gate.check(DEPLOY, key="turn-1") == first
