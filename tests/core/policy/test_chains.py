"""Policies made of policies: the first that answers, one or the other; denials come first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sayso.calls import RunRef, ToolCall
from sayso.errors import ToolBlocked
from sayso.events import Resolution, UserInputRequest
from sayso.policy.chain import Chain, When
from sayso.policy.decision import Decision, Policy, PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import Remembered, RulePolicy
from sayso.rules.declarations import Requirements
from sayso.rules.rule import PatternRule, RememberedRule, Rule
from sayso.testing import play

CALL = ToolCall("bash", {"command": "ls"})
CONTEXT = PolicyContext(RunRef("a", "s"))


def plain(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW.because("yes")


def silent(call: ToolCall, context: PolicyContext) -> None:
    return None


def asks(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ASK.because("risky")


def blocks(call: ToolCall, context: PolicyContext) -> Decision:
    raise ToolBlocked(call.name, "not on Fridays")


def fails(call: ToolCall, context: PolicyContext) -> Decision:
    raise RuntimeError(f"secret {call.arguments}")


@pytest.mark.parametrize(
    ("policies", "reason"),
    [((plain, blocks), "yes"), ((silent, blocks, plain), "not on Fridays"), ((), "no policy of")],
)
async def test_the_first_policy_of_a_chain_that_answers_wins(
    policies: tuple[Policy, ...], reason: str
) -> None:
    decision = await evaluate(Chain(*policies), CALL, CONTEXT)

    assert decision is not None
    assert decision.reason.startswith(reason)


async def test_a_chain_in_which_nobody_answers_asks() -> None:
    decision = await evaluate(Chain(silent, Remembered()), CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.ASK


async def test_a_policy_of_a_chain_that_fails_denies_for_all() -> None:
    decision = await evaluate(Chain(fails, plain), CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.DENY
    assert "fails" in decision.reason


RM = ToolCall("bash", {"command": "rm x"})
NO_RM = RulePolicy(deny=[Rule("bash", {"command": "rm*"})])


@pytest.mark.parametrize(
    "policy",
    [
        Chain(plain, NO_RM),
        Chain(asks, NO_RM),
        Chain(silent, Chain(plain, NO_RM)),
        Chain(plain, When(lambda call, context: True, NO_RM)),
        Chain(plain, RulePolicy(denied_call_ids=[RM.call_id])),
    ],
)
async def test_nothing_comes_before_a_denial_wherever_it_stands_in_a_chain(policy: Chain) -> None:
    decision = await evaluate(policy, RM, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.DENY
    assert decision.line in ("deny rule 1", "denied call id")


async def test_a_later_policy_of_a_chain_that_denies_by_deciding_is_not_asked() -> None:
    decision = await evaluate(Chain(plain, blocks, NO_RM), CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.ALLOW


async def test_arguments_that_a_policy_of_a_chain_puts_in_do_not_pass_a_deny_rule() -> None:
    def worse(call: ToolCall, context: PolicyContext) -> dict[str, Any]:
        return dict(RM.arguments)

    decision = await evaluate(Chain(worse, NO_RM), CALL, CONTEXT)

    assert decision is not None
    assert decision.line == "deny rule 1"


async def test_arguments_of_a_decision_in_a_chain_do_not_pass_a_deny_rule() -> None:
    def worse(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW.with_arguments(dict(RM.arguments))

    decision = await evaluate(Chain(worse, NO_RM), CALL, CONTEXT)

    assert decision is not None
    assert decision.line == "deny rule 1"


async def test_always_deny_counts_wherever_remembered_stands_in_a_chain() -> None:
    now = datetime.now(UTC)
    kept = RememberedRule(Rule("bash"), "deny", "slack:U0ALICE", now, now + timedelta(hours=1))

    decision = await evaluate(
        Chain(plain, Remembered()), CALL, PolicyContext(RunRef("a", "s"), (kept,))
    )

    assert decision is not None
    assert decision.line == "remembered always deny"


async def test_looking_for_a_denial_neither_spends_nor_asks() -> None:
    class Curious:
        def decide(self, call: ToolCall, context: PolicyContext) -> None:
            seen.append(("decide", context.spend, context.ask))

        async def denial(self, call: ToolCall, context: PolicyContext) -> None:
            seen.append(("denial", context.spend, context.ask))

    async def spend(key: str) -> bool:
        return True

    async def ask(request: UserInputRequest) -> Resolution:
        raise AssertionError

    seen: list[tuple[str, object, object]] = []
    await evaluate(Chain(Curious()), CALL, PolicyContext(RunRef("a", "s"), spend=spend, ask=ask))

    assert seen == [("denial", None, None), ("decide", spend, ask)]


class Denying:
    """A policy that allows, and whose denial is what the test gives it."""

    def __init__(self, said: object) -> None:
        self._said = said

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW

    def denial(self, call: ToolCall, context: PolicyContext) -> Any:
        if isinstance(self._said, Exception):
            raise self._said
        return self._said


@pytest.mark.parametrize("said", [KeyError("x"), True, {}, "no", Decision.ALLOW, Decision.ASK])
async def test_a_policy_that_fails_to_say_whether_it_denies_denies(said: object) -> None:
    decision = await evaluate(Chain(plain, Denying(said)), CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.DENY
    assert "policy Denying" in decision.reason


async def test_a_chain_knows_what_its_policies_were_told_of_tools() -> None:
    first, second = Requirements(), Requirements()
    first.declare("a", kind="sub-agent")
    second.declare("a", kind="multi-agent")
    second.declare("b", kind="multi-agent")
    by_when = When(is_bash, plain, RulePolicy(requirements=second))
    policy = Chain(plain, RulePolicy(requirements=first), by_when)

    kinds = [said and said.kind for said in map(policy.requirements.of, "abc")]

    assert kinds == ["sub-agent", "multi-agent", None]
    assert When(is_bash, plain).requirements.of("a") is None


async def test_rules_that_a_tool_declares_are_offered_by_a_policy_in_a_chain() -> None:
    told = Requirements()
    told.declare("bash", derive_permission=lambda arguments: PatternRule("bash", {"command": "l*"}))
    policy = Chain(silent, When(is_bash, RulePolicy(requirements=told)))

    stage = await play([CALL], policy=policy, answers={"bash": "deny"})

    assert "always-2" in stage.prompts[0].choices


async def is_bash(call: ToolCall, context: PolicyContext) -> bool:
    return call.name == "bash"


@pytest.mark.parametrize("predicate", [is_bash, lambda call, context: call.name == "bash"])
async def test_when_chooses_by_a_predicate_async_or_not(predicate: Any) -> None:
    policy = When(predicate, plain, blocks)
    alone = When(predicate, plain)

    yes = await evaluate(policy, CALL, CONTEXT)
    no = await evaluate(policy, ToolCall("read"), CONTEXT)

    assert yes is not None
    assert yes.ruling is Ruling.ALLOW
    assert no is not None
    assert no.ruling is Ruling.DENY
    assert await evaluate(alone, ToolCall("read"), CONTEXT) is None


@pytest.mark.parametrize("predicate", [is_bash, lambda call, context: call.name == "bash"])
async def test_the_denials_of_the_policy_that_when_chooses_count_and_no_others(
    predicate: Any,
) -> None:
    chosen = Chain(plain, When(predicate, NO_RM, plain))
    other = Chain(plain, When(predicate, plain, NO_RM))
    none = Chain(plain, When(predicate, plain))

    rulings = [await evaluate(policy, RM, CONTEXT) for policy in (chosen, other, none)]

    assert [said and said.ruling for said in rulings] == [Ruling.DENY, Ruling.ALLOW, Ruling.ALLOW]


async def test_a_predicate_that_fails_when_denials_are_looked_at_denies() -> None:
    def broken(call: ToolCall, context: PolicyContext) -> bool:
        raise KeyError("x")

    decision = await evaluate(Chain(plain, When(broken, plain, NO_RM)), CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.DENY
    assert "When(" in decision.reason


async def test_a_predicate_is_not_asked_again_where_neither_policy_says_what_it_denies() -> None:
    def counted(call: ToolCall, context: PolicyContext) -> bool:
        asked.append(call)
        return True

    asked: list[ToolCall] = []
    await evaluate(Chain(When(counted, plain, blocks)), CALL, CONTEXT)

    assert len(asked) == 1


async def test_a_predicate_that_fails_denies() -> None:
    def broken(call: ToolCall, context: PolicyContext) -> bool:
        raise KeyError("x")

    decision = await evaluate(When(broken, plain, plain), CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.DENY
    assert "broken" in decision.reason
