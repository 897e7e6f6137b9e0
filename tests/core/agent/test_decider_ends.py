"""A decision comes to an end, whatever a policy or the session's rules do."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any, cast

import pytest

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.agent.decider import Asker, Decider
from sayso.clock import utc_now
from sayso.policy.decision import Decision, PolicyContext, Ruling
from sayso.policy.rule_policy import Remembered
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.rules.rule_set import RuleBook
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import RuleStore
from sayso.testing import a_request, a_response, a_rule

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls"})


@pytest.mark.parametrize("ruling", list(Ruling))
async def test_a_decision_that_names_a_rule_nobody_stored_never_allows(ruling: Ruling) -> None:
    def policy(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision(ruling, "mine", "mine", rule_id="my-rule-7")

    async with Gate.open("memory://", run=RUN, policy=policy, timeout=0.05) as gate:
        verdict = await gate.check(LS)

    if ruling is Ruling.ASK:
        assert verdict.outcome is Outcome.EXPIRED
    else:
        assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "mine")
    if ruling is Ruling.ALLOW:
        assert "'my-rule-7'" in verdict.reason


async def test_a_decision_kept_from_before_a_rule_was_revoked_no_longer_allows() -> None:
    kept: list[Decision | None] = []

    def policy(call: ToolCall, context: PolicyContext) -> Decision | None:
        kept.append(Remembered().decide(call, context))
        return next((decision for decision in kept if decision is not None), None)

    rule = replace(a_rule(), rule=literal_rule(LS))
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, policy=policy, timeout=0.05) as gate,
    ):
        await remember(backend, rule)
        before = await gate.check(LS)
        await backend.rules.revoke(rule.rule_id, by="cli:me")
        after = await gate.check(LS)

    assert before.line == "remembered always allow"
    assert after.outcome is Outcome.DENIED
    assert rule.rule_id in after.reason


async def remember(backend: Backend, rule: RememberedRule) -> None:
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    await backend.store.settle(request.permission_id, a_response(request), remember=rule)


async def test_a_call_that_was_changed_in_place_is_not_decided_on_once_more() -> None:
    def in_place(call: ToolCall, context: PolicyContext) -> Decision:
        if call.name == "bash":
            cast("dict[str, Any]", call.arguments)["command"] = "pwd"
        return Decision.ALLOW

    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, policy=in_place, timeout=0.05) as gate,
    ):
        await remember(backend, a_rule())
        assert (await gate.check(ToolCall("read"))).approved
        # The gate has not read this yet. When it does, the call is "pwd".
        await remember(backend, a_rule("other"))
        verdict = await gate.check(ToolCall("bash", {"command": "ls"}))

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == f"policy {in_place.__qualname__}"


class Changing:
    """Rules of a session that are others at every look."""

    def __init__(self) -> None:
        self.looks = count()

    async def book(self, run: RunRef) -> RuleBook:
        return RuleBook(f"v{next(self.looks)}")


async def test_rules_that_change_at_every_look_end_in_a_denial() -> None:
    rules = Changing()
    decider = Decider(
        cast("RuleStore", rules),
        cast("Any", None),
        lambda call, context: Decision.ALLOW,
        RUN,
        cast("Any", None),
        utc_now,
    )

    decided = await decider.decide(LS, Asker("bot"))

    assert decided.decision.ruling is Ruling.DENY
    assert "kept changing" in decided.decision.reason
    assert 10 <= next(rules.looks) <= 100
