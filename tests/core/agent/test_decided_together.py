"""A call that several rules allow together: each of them is used in the step that settles."""

from __future__ import annotations

import pytest
from store_contracts.rules import remember

from sayso import Gate, RulePolicy, RunRef, ToolCall
from sayso.agent.verdict import CheckResult
from sayso.always.widths import derive
from sayso.policy.decision import Decision, PolicyContext, Ruling
from sayso.policy.rule_policy import remembered_decision
from sayso.rules.rule import RememberedRule
from sayso.stores.backend import Backend
from sayso.testing import a_rule

RUN = RunRef("deploy-bot", "s-1")
BOTH = ToolCall("Bash", {"command": "git add a && git commit -m b"})


async def stored(backend: Backend) -> tuple[RememberedRule, ...]:
    """What people chose, one after the other, for both parts of the line."""
    rules = []
    for line in ("git add x", "git commit -m x"):
        rule = a_rule("Bash")
        wider = derive(ToolCall("Bash", {"command": line}))[1]
        rules.append(
            RememberedRule(
                wider, "allow", rule.stored_by, rule.stored_at, rule.expires_at, rule.rule_id
            )
        )
        await remember(backend, rules[-1], RUN)
    return tuple(rules)


async def test_a_line_that_several_rules_allow_runs_and_each_use_is_counted(
    backend: Backend,
) -> None:
    rules = await stored(backend)

    async with Gate.open(backend, run=RUN, policy=RulePolicy(), timeout=20) as gate:
        verdict = await gate.check(BOTH)

    assert verdict.approved
    assert verdict.rule_ids == tuple(one.rule_id for one in rules)
    assert [one.remembered.uses for one in await backend.rules.all()] == [1, 1]
    assert verdict.why(who="a person").count("by an Always of a person (rule") == 2


@pytest.mark.parametrize("gone", [0, 1])
async def test_a_line_is_asked_about_once_one_of_its_rules_was_taken_back(
    backend: Backend, gone: int
) -> None:
    rules = await stored(backend)
    await backend.rules.revoke(rules[gone].rule_id, by="cli:me")

    async with Gate.open(backend, run=RUN, policy=RulePolicy(), timeout=20) as gate:
        assert not isinstance(await gate.submit(BOTH), CheckResult)

    assert [one.remembered.uses for one in await backend.rules.all()] == [0]


@pytest.mark.parametrize("gone", [0, 1])
async def test_a_rule_that_is_taken_back_while_the_call_is_decided_counts_no_more(
    backend: Backend, gone: int
) -> None:
    rules = await stored(backend)

    async def slow(call: ToolCall, context: PolicyContext) -> Decision | None:
        decision = remembered_decision(call, context, "allow")
        if decision is not None:
            await backend.rules.revoke(rules[gone].rule_id, by="cli:me")
        return decision

    async with Gate.open(backend, run=RUN, policy=slow, timeout=20) as gate:
        said = await gate.submit(BOTH)

    assert not isinstance(said, CheckResult)
    assert [one.remembered.uses for one in await backend.rules.all()] == [0]


async def test_rules_that_the_session_does_not_remember_allow_nothing(backend: Backend) -> None:
    rules = await stored(backend)

    def old(call: ToolCall, context: PolicyContext) -> Decision:
        if not context.remembered:
            return Decision.ASK
        return Decision(Ruling.ALLOW, rule_id=rules[0].rule_id, other_rules=("revoked long ago",))

    async with Gate.open(backend, run=RUN, policy=old, timeout=20) as gate:
        verdict = await gate.check(BOTH)

    assert not verdict.approved
    assert "'revoked long ago'" in verdict.reason


async def test_of_a_batch_the_verdict_falls_with_any_of_its_rules(backend: Backend) -> None:
    rules = await stored(backend)
    other = ToolCall("other", {})

    async with Gate.open(backend, run=RUN, policy=RulePolicy(), timeout=20) as gate:
        handed = await gate.submit_batch([BOTH, other])
        await backend.rules.revoke(rules[1].rule_id, by="cli:me")
        first, _ = await gate.resume_batch(handed, wait=False)

    assert isinstance(first, CheckResult)
    assert not first.approved
    assert rules[1].rule_id in first.reason
