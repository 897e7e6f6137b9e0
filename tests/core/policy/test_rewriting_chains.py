"""A dict in a chain: go on with these arguments, and let the next members decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sayso import Chain, Decision, PolicyContext, Rule, RulePolicy, RunRef, ToolCall, When
from sayso.policy.decision import Policy, Ruling, evaluate
from sayso.policy.rule_policy import Remembered
from sayso.testing import Stage, a_rule

CALL = ToolCall("bash", {"command": "ls"})
CONTEXT = PolicyContext(RunRef("a", "s"))


def with_flag(call: ToolCall, context: PolicyContext) -> dict[str, Any]:
    return {**call.arguments, "command": f"{call.arguments['command']} -l"}


async def quietly(call: ToolCall, context: PolicyContext) -> dict[str, Any]:
    return {**call.arguments, "quiet": True}


def into_rm(call: ToolCall, context: PolicyContext) -> dict[str, Any]:
    return {"command": "rm x"}


def allows(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW


def denies(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.DENY.because("no")


def anything(call: ToolCall, context: PolicyContext) -> bool:
    return True


RULES = RulePolicy(
    allow=[Rule("bash", {"command": "ls -l"})], deny=[Rule("bash", {"command": "rm *"})]
)


async def decided(*members: Policy, call: ToolCall = CALL) -> Decision:
    decision = await evaluate(Chain(*members), call, CONTEXT)
    assert decision is not None
    return decision


@pytest.mark.parametrize("rewrites", [with_flag, quietly, When(anything, with_flag)])
async def test_a_dict_in_a_chain_goes_on_with_these_arguments_and_the_next_member_decides(
    rewrites: Policy,
) -> None:
    decision = await decided(rewrites, denies)

    assert (decision.ruling, decision.reason) == (Ruling.DENY, "no")


async def test_the_rules_after_a_dict_see_the_changed_call() -> None:
    decision = await decided(with_flag, RULES)

    assert (decision.ruling, decision.line) == (Ruling.ALLOW, "allow rule 1")
    assert decision.arguments == {"command": "ls -l"}
    assert (await decided(RULES)).ruling is Ruling.ASK


async def test_several_members_rewrite_one_after_the_other() -> None:
    decision = await decided(with_flag, quietly, allows)

    assert decision.arguments == {"command": "ls -l", "quiet": True}
    assert decision.ruling is Ruling.ALLOW


async def test_where_members_only_rewrite_a_person_is_asked_about_what_they_made_of_it() -> None:
    decision = await decided(with_flag, quietly)

    assert decision.ruling is Ruling.ASK
    assert decision.arguments == {"command": "ls -l", "quiet": True}
    async with Stage(policy=Chain(with_flag, quietly), answers={"bash": "allow"}) as stage:
        verdict = await stage.gate.check(CALL)
    assert verdict.arguments == {"command": "ls -l", "quiet": True}
    assert verdict.line == "person"


async def test_a_rewriting_member_does_not_come_before_a_denial() -> None:
    back_again = Chain(into_rm, lambda call, context: {"command": "ls -l"}, RULES)

    assert (await decided(into_rm, allows, RULES)).line == "deny rule 1"
    assert (await decided(with_flag, RULES, call=ToolCall("bash", {"command": "rm"}))).line == (
        "deny rule 1"
    )
    # Also what the call was only on the way.
    assert (await decided(back_again)).line == "deny rule 1"


async def test_a_decision_with_arguments_still_answers_for_the_chain() -> None:
    def answers(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW.with_arguments({"command": "pwd"})

    decision = await decided(with_flag, answers, denies)

    assert (decision.ruling, decision.arguments) == (Ruling.ALLOW, {"command": "pwd"})


async def test_an_always_counts_for_the_call_as_the_chain_made_it() -> None:
    kept = replace(a_rule(), rule=Rule("bash", {"command": "ls -l"}))
    policy = Chain(with_flag, Remembered())

    decision = await evaluate(policy, CALL, PolicyContext(RunRef("a", "s"), (kept,)))

    assert decision is not None
    assert (decision.ruling, decision.rule_id) == (Ruling.ALLOW, kept.rule_id)
    assert decision.arguments == {"command": "ls -l"}


async def test_outside_a_chain_a_dict_allows_the_call_with_those() -> None:
    decision = await evaluate(with_flag, CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.ALLOW
