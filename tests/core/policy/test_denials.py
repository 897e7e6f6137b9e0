"""Nothing comes before a denial, whoever approves and whatever changes on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from sayso import Decision, Gate, Outcome, Rule, RulePolicy, RunRef
from sayso.agent.verdict import CheckResult
from sayso.calls import ToolCall
from sayso.clock import utc_now
from sayso.events import PermissionRequestEvent
from sayso.policy.chain import Chain, When
from sayso.policy.decision import Policy, PolicyContext
from sayso.policy.permissions import deny_rules_of
from sayso.policy.rule_policy import Remembered
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import Stage, a_request, a_response

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls"})


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def always(backend: Backend, effect: Any, call: ToolCall) -> str:
    """Store an Always for the session, as a press in another process does; its rule's id."""
    now = datetime.now(UTC)
    rule = RememberedRule(literal_rule(call), effect, "slack:U0ALICE", now, now + timedelta(1))
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    await backend.store.settle(request.permission_id, a_response(request), remember=rule)
    return rule.rule_id


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

    def allow_all(call: ToolCall, context: PolicyContext) -> Decision:
        del call, context
        return Decision.ALLOW

    async with Gate.open(backend, run=RUN, policy=allow_all) as gate:
        verdict = await gate.check(LS)

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "remembered always deny"


async def test_always_deny_holds_for_the_arguments_that_a_policy_puts_in(backend: Backend) -> None:
    await always(backend, "deny", ToolCall("bash", {"command": "rm"}))

    def change(call: ToolCall, context: PolicyContext) -> dict[str, Any]:
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


def allow_all(call: ToolCall, context: PolicyContext) -> Decision:
    del call, context
    return Decision.ALLOW


def ask_always(call: ToolCall, context: PolicyContext) -> Decision:
    del call, context
    return Decision.ASK


async def test_a_deny_rule_in_a_chain_denies_what_an_earlier_policy_allows(
    backend: Backend,
) -> None:
    policy = Chain(allow_all, RulePolicy(deny=[Rule("bash")]))
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        verdict = await gate.check(LS)

    assert (verdict.approved, verdict.line) == (False, "deny rule 1")


async def test_a_call_id_denied_in_a_chain_counts_although_a_person_approved() -> None:
    rules = RulePolicy(default="allow")
    policy = Chain(ask_always, When(lambda call, context: True, Chain(rules)))
    async with Stage(policy=policy, answers={"bash": "allow"}) as stage:
        [before] = await stage.gate.check_batch([LS])
        rules.deny_call_id(LS.call_id)
        after = await stage.gate.before_function(LS)

    assert before.approved
    assert (after.approved, after.line) == (False, "denied call id")


async def test_who_asks_counts_also_when_denials_are_looked_at_again() -> None:
    def by_the_planner(call: ToolCall, context: PolicyContext) -> bool:
        del call
        return context.source_name == "planner" and context.path == ("call-1",)

    policy = Chain(ask_always, When(by_the_planner, RulePolicy(deny=[Rule("bash")])))
    other = Chain(ask_always, When(by_the_planner, RulePolicy(), RulePolicy(deny=[Rule("bash")])))

    async def verdicts(policy: Chain) -> tuple[CheckResult, CheckResult]:
        async with Stage(policy=policy, answers={"bash": "allow"}) as stage:
            options: dict[str, Any] = {"source_name": "planner", "path": ["call-1"]}
            checked = await stage.gate.check(LS, **options)
            submitted = await stage.gate.submit(LS, **options)
            if isinstance(submitted, str):
                submitted = await stage.gate.resume(submitted)
            return checked, submitted

    assert [verdict.line for verdict in await verdicts(policy)] == ["deny rule 1"] * 2
    assert [verdict.approved for verdict in await verdicts(other)] == [True, True]


async def test_always_deny_is_not_asked_about_by_a_policy_that_would_ask() -> None:
    async with Stage(policy=ask_always, answers={"bash": "allow"}, run=RUN) as stage:
        await always(stage.backend, "deny", LS)

        verdict = await stage.gate.check(LS)

    assert (verdict.approved, verdict.line) == (False, "remembered always deny")
    assert stage.prompts == []


async def test_a_denial_of_the_original_call_counts_after_its_changed_one_was_approved() -> None:
    async def change(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments({"command": "ls -l"})

    async with Stage(policy=change, run=RUN) as stage:
        stage.hold()
        waiting = asyncio.create_task(stage.gate.check(LS))
        request = await asked(stage.backend)
        await always(stage.backend, "deny", LS)
        await stage.backend.store.settle(request.permission_id, a_response(request))

        assert (await waiting).line == "remembered always deny"


class OwnQuestion:
    """Asks a person in its own words; notes the ending, and may be interrupted by the test."""

    def __init__(self) -> None:
        self.endings: list[Outcome] = []
        self.meanwhile: Any = None

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        assert context.ask is not None
        until = utc_now() + timedelta(minutes=1)
        request = a_request(tool="own question", arguments=call.arguments, run=context.run)
        ending = await context.ask(request.model_copy(update={"expires_at": until}))
        self.endings.append(ending.outcome)
        if self.meanwhile is not None:
            await self.meanwhile()
        return None if ending.outcome is Outcome.APPROVED else Decision.DENY


async def answered(backend: Backend, gate: Gate) -> CheckResult:
    """The verdict on a call when a person says yes to the policy's own question."""
    waiting = asyncio.create_task(gate.check(LS))
    request = await asked(backend)
    response = request.approve(by="slack:U0ALICE", at=utc_now())
    await backend.store.settle(request.permission_id, response)
    return await waiting


async def test_a_call_id_denied_while_a_policys_own_question_is_open_is_not_asked_about(
    backend: Backend,
) -> None:
    own = OwnQuestion()

    async def deny() -> None:
        gate.deny_call(LS.call_id)

    own.meanwhile = deny
    async with Gate.open(backend, run=RUN, policy=own) as gate:
        verdict = await answered(backend, gate)

    assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "denied call id")


async def test_a_rule_revoked_while_a_policys_own_question_is_open_no_longer_allows(
    backend: Backend,
) -> None:
    rule_id = await always(backend, "allow", LS)
    own = OwnQuestion()

    async def revoke() -> None:
        assert await backend.rules.revoke(rule_id, by="cli:me")

    async with Gate.open(backend, run=RUN, policy=Chain(own, Remembered()), timeout=0.2) as gate:
        before = await answered(backend, gate)
        own.meanwhile = revoke
        after = await answered(backend, gate)

    assert before.line == "remembered always allow"
    assert after.outcome is Outcome.EXPIRED


async def test_what_is_remembered_is_known_before_a_policys_own_question_is_put(
    backend: Backend,
) -> None:
    await always(backend, "allow", LS)
    own = OwnQuestion()
    # The gate is new and has read nothing yet.
    async with Gate.open(backend, run=RUN, policy=Chain(Remembered(), own)) as gate:
        verdict = await gate.check(LS)

    assert verdict.line == "remembered always allow"
    assert Outcome.APPROVED not in own.endings


async def test_a_policys_own_question_is_not_put_about_what_is_always_denied(
    backend: Backend,
) -> None:
    rule_id = await always(backend, "deny", LS)
    own = OwnQuestion()
    async with Gate.open(backend, run=RUN, policy=own) as gate:
        verdict = await gate.check(LS)

    [kept] = await backend.rules.all()
    assert (verdict.approved, verdict.line) == (False, "remembered always deny")
    assert own.endings == [Outcome.CANCELLED]
    assert (kept.remembered.rule_id, kept.remembered.uses) == (rule_id, 1)


async def test_a_rule_revoked_after_an_allow_once_was_spent_no_longer_allows(
    backend: Backend,
) -> None:
    rule_id = await always(backend, "allow", LS)

    async def spends(call: ToolCall, context: PolicyContext) -> None:
        assert context.spend is not None
        spent.append(await context.spend("once"))
        if spent[-1]:
            await backend.rules.revoke(rule_id, by="cli:me")

    spent: list[bool] = []
    policy = Chain(spends, Remembered())
    async with Gate.open(backend, run=RUN, policy=policy, timeout=0.3) as gate:
        verdict = await gate.check(LS)

    assert True in spent
    assert verdict.outcome is Outcome.EXPIRED


async def test_always_deny_counts_although_another_check_has_read_it_meanwhile(
    backend: Backend,
) -> None:
    thinks, thought = asyncio.Event(), asyncio.Event()

    async def slow(call: ToolCall, context: PolicyContext) -> Decision:
        del context
        if call == LS:
            thinks.set()
            await thought.wait()
        return Decision.ALLOW

    async with Gate.open(backend, run=RUN, policy=slow) as gate:
        waiting = asyncio.create_task(gate.check(LS))
        await thinks.wait()
        await always(backend, "deny", LS)
        await gate.check(ToolCall("read"))
        thought.set()

        assert (await waiting).line == "remembered always deny"


async def test_always_deny_from_elsewhere_beats_an_always_allow_read_before(
    backend: Backend,
) -> None:
    await always(backend, "allow", LS)
    async with Gate.open(backend, run=RUN) as gate:
        before = await gate.check(LS)
        await always(backend, "deny", LS)
        after = await gate.check(LS)

    assert (before.line, after.line) == ("remembered always allow", "remembered always deny")


async def test_always_deny_from_elsewhere_leaves_an_allow_once_rule_unspent(
    backend: Backend,
) -> None:
    policy = RulePolicy(allow_once=[Rule("bash")])
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        await always(backend, "deny", LS)
        denied = await gate.check(LS)
        other = await gate.check(ToolCall("bash", {"command": "pwd"}))

    assert (denied.line, other.line) == ("remembered always deny", "allow-once rule 1")


async def test_a_call_denied_while_a_policys_own_question_is_open_spends_no_allow_once_rule(
    backend: Backend,
) -> None:
    own = OwnQuestion()

    async def deny() -> None:
        gate.deny_call(LS.call_id)

    own.meanwhile = deny
    policy = Chain(own, RulePolicy(allow_once=[Rule("bash")]))
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        denied = await answered(backend, gate)
    policy = Chain(RulePolicy(allow_once=[Rule("bash")]))
    async with Gate.open(backend, run=RUN, policy=policy, timeout=0.2) as gate:
        other = await gate.check(ToolCall("bash", {"command": "pwd"}))

    assert (denied.line, other.line) == ("denied call id", "allow-once rule 1")


class HandsOn:
    """A policy around another one: what it does not do itself, the other one does."""

    def __init__(self, policy: RulePolicy) -> None:
        self._policy = policy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)


async def test_a_policy_that_hands_on_by_getattr_denies_as_the_one_inside(
    backend: Backend,
) -> None:
    inside = RulePolicy(deny=[Rule("bash", {"command": "ls"})])
    policy = Chain(allow_all, cast("Policy", HandsOn(inside)))
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        verdict = await gate.check(LS)

    assert (verdict.approved, verdict.line) == (False, "deny rule 1")
    assert await deny_rules_of(policy, LS, PolicyContext(RUN)) == await deny_rules_of(
        inside, LS, PolicyContext(RUN)
    )
