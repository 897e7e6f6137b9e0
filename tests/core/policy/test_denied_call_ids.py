"""Calls denied in advance: the agent is told why, whoever said it and wherever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from sayso import (
    Chain,
    CheckResult,
    ConfigError,
    Gate,
    Orchestrator,
    Outcome,
    Policy,
    RulePolicy,
    RunRef,
    ToolCall,
)
from sayso.testing import Stage

CALL = ToolCall("bash", {"command": "ls"}, call_id="c-1")
WHY = "the user pressed stop"


def told(policy: RulePolicy) -> RulePolicy:
    policy.deny_call_id("c-1", reason=WHY)
    return policy


@pytest.mark.parametrize(
    "policy",
    [
        RulePolicy(default="allow", denied_call_ids={"c-1": WHY}),
        told(RulePolicy(default="allow")),
        told(RulePolicy(default="allow", denied_call_ids=["c-1"])),
        Chain(RulePolicy(default="allow", denied_call_ids={"c-1": WHY})),
    ],
)
async def test_a_mapping_of_denied_call_ids_keeps_the_reason_of_each(policy: Policy) -> None:
    async with Stage(policy=policy) as stage:
        verdict = await stage.gate.check(CALL)

    assert (verdict.outcome, verdict.line, verdict.reason) == (
        Outcome.DENIED,
        "denied call id",
        WHY,
    )
    assert WHY in verdict.as_tool_result()


async def by_check(gate: Gate) -> CheckResult:
    return await gate.check(CALL)


async def by_batch(gate: Gate) -> CheckResult:
    return (await gate.check_batch([CALL]))[0]


async def by_submit(gate: Gate) -> CheckResult:
    said = await gate.submit(CALL)
    assert isinstance(said, CheckResult)
    return said


async def by_resumed_batch(gate: Gate) -> CheckResult:
    (verdict,) = await gate.resume_batch(await gate.submit_batch([CALL]))
    assert isinstance(verdict, CheckResult)
    return verdict


@pytest.mark.parametrize("door", [by_check, by_batch, by_submit, by_resumed_batch])
async def test_a_denied_call_id_is_denied_with_its_reason_on_every_door(
    door: Callable[[Gate], asyncio.Future[CheckResult]],
) -> None:
    async with Stage(policy=RulePolicy(default="allow")) as stage:
        stage.gate.deny_call("c-1", reason=WHY)
        verdict = await door(stage.gate)

    assert (verdict.outcome, verdict.reason) == (Outcome.DENIED, WHY)


async def test_a_call_id_denied_after_its_approval_is_denied_with_its_reason() -> None:
    async with Stage(policy=RulePolicy(default="allow")) as stage:
        assert (await stage.gate.before_function(CALL)).approved
        stage.gate.deny_call("c-1", reason=WHY)

        assert (await stage.gate.before_function(CALL)).reason == WHY


async def test_without_a_reason_the_denial_says_that_the_call_was_denied() -> None:
    async with Stage(policy=RulePolicy(denied_call_ids=["c-1"])) as stage:
        stage.gate.deny_call("c-2")
        first = await stage.gate.check(CALL)
        second = await stage.gate.check(ToolCall("bash", call_id="c-2"))

    assert first.reason == "this call was denied in advance"
    assert second.reason == "call id 'c-2' is denied"


@pytest.fixture
async def orchestrator() -> AsyncIterator[Orchestrator]:
    async with Orchestrator.open("memory://") as orchestrator:
        yield orchestrator


async def test_updated_call_ids_carry_their_reasons(orchestrator: Orchestrator) -> None:
    gate = orchestrator.add(RunRef("one", "s"), policy=RulePolicy(default="allow"))
    orchestrator.update_permissions("one", denied_call_ids={"c-1": WHY})

    assert (await gate.check(CALL)).reason == WHY
    assert orchestrator.permissions_of("one").denied_call_ids == {"c-1": WHY}


@pytest.mark.parametrize("wrong", ["c-1", [1], {"c-1": None}, {1: "why"}])
def test_what_is_no_list_and_no_mapping_of_strings_is_refused(wrong: object) -> None:
    with pytest.raises(ConfigError, match="denied_call_ids"):
        RulePolicy(denied_call_ids=wrong)  # type: ignore[arg-type]  # on purpose
