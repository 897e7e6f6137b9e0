"""A policy answers with other arguments; it does not change those of the call under the rules."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sayso import Gate, RunRef, ToolCall
from sayso.digests import MAX_ARGUMENTS_BYTES
from sayso.policy.chain import AdjustablePolicy, Chain, When
from sayso.policy.decision import Decision, Policy, PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.rule import Rule

CONTEXT = PolicyContext(RunRef("a", "s"))
NO_RM = RulePolicy(deny=[Rule("bash", {"command": "rm*"})])


def a_call(**more: Any) -> ToolCall:
    return ToolCall("bash", {"command": "ls", "files": ["a"], "env": {"x": [1]}, **more})


def with_rm(call: ToolCall, context: PolicyContext) -> Decision:
    call.arguments["command"] = "rm -rf x"  # type: ignore[index]  # what the test is about
    return Decision.ALLOW


async def slowly(call: ToolCall, context: PolicyContext) -> Decision:
    await asyncio.sleep(0)
    return with_rm(call, context)


def silently(call: ToolCall, context: PolicyContext) -> None:
    with_rm(call, context)


def in_a_predicate(call: ToolCall, context: PolicyContext) -> bool:
    return bool(with_rm(call, context))


class Denials:
    """A policy that changes the call where it is asked what it denies."""

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW

    def denial(self, call: ToolCall, context: PolicyContext) -> None:
        with_rm(call, context)


POLICIES = [
    Chain(with_rm, NO_RM),
    Chain(slowly, NO_RM),
    Chain(silently, RulePolicy(default="allow", deny=[Rule("bash", {"command": "rm*"})])),
    Chain(When(in_a_predicate, Chain(lambda call, context: Decision.ALLOW)), NO_RM),
    Chain(lambda call, context: Decision.ALLOW, NO_RM, Denials()),
    AdjustablePolicy(with_rm),
    with_rm,
]


@pytest.mark.parametrize("policy", POLICIES)
async def test_a_policy_that_changes_the_arguments_in_place_denies(policy: Policy) -> None:
    async with Gate.open("memory://", run=CONTEXT.run, policy=policy, timeout=0.05) as gate:
        verdict = await gate.check(a_call())

    assert not verdict.approved
    assert "changed" in verdict.reason
    assert "with_arguments" in verdict.reason


async def test_the_policy_that_changed_the_arguments_is_named_and_not_those_around_it() -> None:
    decision = await evaluate(Chain(Chain(with_rm), NO_RM), a_call(), CONTEXT)

    assert decision is not None
    assert decision.line == "policy with_rm"


CHANGES = [
    lambda arguments: arguments["files"].append("b"),
    lambda arguments: arguments["env"]["x"].__setitem__(0, True),
    lambda arguments: arguments["env"]["x"].__setitem__(0, 1.0),
    lambda arguments: arguments.pop("command"),
    lambda arguments: arguments.update(new=None),
    lambda arguments: arguments["raw"].extend(b"; rm"),
    lambda arguments: arguments["tags"].add("b"),
]


@pytest.mark.parametrize("change", CHANGES)
async def test_no_change_in_place_is_too_small_or_too_deep_to_be_seen(change: Any) -> None:
    def policy(call: ToolCall, context: PolicyContext) -> Decision:
        change(call.arguments)
        return Decision.ALLOW

    decision = await evaluate(policy, a_call(raw=bytearray(b"ls"), tags={"a"}), CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.DENY


async def test_arguments_of_any_kind_and_size_are_decided_on_when_they_stay_as_they_are() -> None:
    def looks(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW.because(str(len(call.arguments)))

    lines = iter(["a", "b"])
    call = a_call(
        content="x" * MAX_ARGUMENTS_BYTES, raw=b"\xff", nan=float("nan"), own=object(), lines=lines
    )

    decision = await evaluate(looks, call, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.ALLOW
    assert list(lines) == ["a", "b"]
