"""A batch that waits somewhere: what counted when it was handed in is looked at again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter
from support.unanswered import unanswered

from sayso import (
    CheckResult,
    Decision,
    Gate,
    Outcome,
    PendingResult,
    PolicyContext,
    Rule,
    RulePolicy,
    RunRef,
    SubmittedCall,
    ToolCall,
)
from sayso.errors import InvalidCallError
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock, a_request, a_response, a_rule

RUN = RunRef("deploy-bot", "s-1")
LATER = replace(RUN, run_id="later")
ONE, TWO = (ToolCall("bash", {"command": c}, c) for c in ("one", "two"))
SHELF = TypeAdapter(list[SubmittedCall])


def stored(submitted: list[SubmittedCall]) -> list[SubmittedCall]:
    """As another process reads it."""
    return SHELF.validate_json(SHELF.dump_json(submitted))


async def remember(backend: Backend, rule: RememberedRule) -> RememberedRule:
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    allowed = rule.effect == "allow"
    answer = a_response(request, approved=allowed)
    await backend.store.settle(request.permission_id, answer, remember=rule)
    return rule


async def press(backend: Backend, permission_id: str | None) -> None:
    assert permission_id is not None
    record = await backend.store.get(permission_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    await backend.store.settle(permission_id, a_response(record.request))


async def open_now(backend: Backend) -> set[str]:
    return {record.request.question_id for record in await backend.store.list_requests()}


def only(results: list[CheckResult | PendingResult]) -> CheckResult:
    (result,) = results
    assert isinstance(result, CheckResult)
    return result


async def test_what_is_submitted_says_which_call_it_is_and_can_be_stored(backend: Backend) -> None:
    policy = RulePolicy(allow=[Rule("read")])
    read = ToolCall("read", {"parts": (1, 2), "at": datetime(2026, 1, 2, tzinfo=UTC)}, "r")
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        submitted = await gate.submit_batch([ONE, read], source_name="planner", path=["p-1"])
        (elsewhere,) = await gate.child("p-2").submit_batch([TWO])

    asked, allowed = submitted
    assert (asked.call, asked.verdict) == (ONE, None)
    assert asked.permission_id in await open_now(backend)
    assert (allowed.call.call_id, allowed.permission_id) == ("r", None)
    assert allowed.call.arguments == {"parts": [1, 2], "at": "2026-01-02T00:00:00Z"}
    assert allowed.verdict is not None
    assert allowed.verdict.arguments == allowed.call.arguments
    assert (asked.source_name, asked.path, elsewhere.path) == ("planner", ("p-1",), ("p-2",))
    assert stored(submitted) == submitted


async def test_a_number_that_json_cannot_store_is_refused_before_anybody_is_asked(
    backend: Backend,
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        with pytest.raises(InvalidCallError, match="not a finite number"):
            await gate.submit_batch([ONE, ToolCall("bash", {"limit": float("inf")})])

    assert await open_now(backend) == set()


async def test_a_call_id_denied_while_the_batch_waited_is_denied(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN, policy=RulePolicy(default="allow")) as gate:
        submitted = stored(await gate.submit_batch([ONE]))
    async with Gate.open(backend, run=LATER, policy=RulePolicy(default="allow")) as gate:
        gate.deny_call("one")
        verdict = only(await gate.resume_batch(submitted))

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "denied call id"


async def test_an_always_deny_stored_while_the_batch_waited_counts(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN, policy=RulePolicy(default="allow")) as gate:
        submitted = stored(await gate.submit_batch([ONE, TWO]))
        await remember(backend, replace(a_rule(effect="deny"), rule=literal_rule(ONE)))
        one, two = await gate.resume_batch(submitted)

    assert isinstance(one, CheckResult)
    assert one.line == "remembered always deny"
    assert two.approved


async def test_a_deny_rule_of_the_process_that_resumes_counts(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN, policy=RulePolicy(default="allow")) as gate:
        submitted = stored(await gate.submit_batch([ONE]))
    policy = RulePolicy(default="allow", deny=[Rule("bash", {"command": "one"})])
    async with Gate.open(backend, run=LATER, policy=policy) as gate:
        verdict = only(await gate.resume_batch(submitted))

    assert verdict.line == "deny rule 1"


async def test_a_denial_of_the_arguments_that_would_run_counts(backend: Backend) -> None:
    def changed(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW.with_arguments({"command": "two"})

    async with Gate.open(backend, run=RUN, policy=changed) as gate:
        submitted = stored(await gate.submit_batch([ONE]))
        before = only(await gate.resume_batch(submitted))
        await remember(backend, replace(a_rule(effect="deny"), rule=literal_rule(TWO)))
        verdict = only(await gate.resume_batch(submitted))

    assert before.approved
    assert before.arguments == {"command": "two"}
    assert verdict.line == "remembered always deny"


async def test_a_denial_of_the_call_as_it_was_counts_against_what_a_person_approved(
    backend: Backend,
) -> None:
    def careful(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments({"command": "two"})

    async with Gate.open(backend, run=RUN, policy=careful) as gate:
        submitted = stored(await gate.submit_batch([ONE]))
        await press(backend, submitted[0].permission_id)
        await remember(backend, replace(a_rule(effect="deny"), rule=literal_rule(ONE)))
        verdict = only(await gate.resume_batch(submitted))

    assert verdict.line == "remembered always deny"


async def test_a_policy_of_ones_own_is_told_who_asked_when_it_looks_at_denials_again(
    backend: Backend,
) -> None:
    class Planner:
        closed = False

        def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
            return self.denial(call, context) or Decision.ALLOW

        def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
            mine = (context.source_name, context.path) == ("planner", ("p-1",))
            return Decision.DENY if self.closed and mine else None

    policy = Planner()
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        submitted = await gate.submit_batch([ONE], source_name="planner", path=["p-1"])
        submitted += await gate.submit_batch([TWO])
        policy.closed = True
        results = await gate.resume_batch(stored(submitted))

    assert [result.approved for result in results] == [False, True]


async def test_an_always_revoked_while_the_batch_waited_is_no_approval_and_is_asked_again(
    backend: Backend,
) -> None:
    rule = await remember(backend, replace(a_rule(), rule=literal_rule(ONE)))
    async with Gate.open(backend, run=RUN) as gate:
        submitted = stored(await gate.submit_batch([ONE]))
        before = only(await gate.resume_batch(submitted))
        await backend.rules.revoke(rule.rule_id, by="slack:U0ALICE")
        gate.before_iteration()
        verdict = only(await gate.resume_batch(submitted))
        again = await unanswered(backend, gate.before_function(ONE))

    assert before.approved
    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "the rule is gone"
    assert f"rule {rule.rule_id}" in verdict.reason
    assert "ask again" in verdict.as_tool_result()
    assert again.outcome is Outcome.EXPIRED


async def test_an_always_that_expired_while_the_batch_waited_is_no_approval() -> None:
    clock = StoppedClock()
    async with (
        memory_backend(clock=clock) as backend,
        Gate.open(backend, run=RUN, clock=clock) as gate,
    ):
        expires = clock() + timedelta(minutes=5)
        await remember(backend, replace(a_rule(), rule=literal_rule(ONE), expires_at=expires))
        submitted = stored(await gate.submit_batch([ONE]))
        clock.advance(timedelta(minutes=6))
        verdict = only(await gate.resume_batch(submitted))

    assert verdict.line == "the rule is gone"


async def test_an_allow_once_rule_is_spent_once_for_the_batch_and_what_runs_after_it(
    backend: Backend,
) -> None:
    async def bash(command: str) -> str:
        return f"ran {command}"

    policy = RulePolicy(allow_once=[Rule("bash")])
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        submitted = stored(await gate.submit_batch([ONE]))
    async with Gate.open(backend, run=LATER, policy=policy) as gate:
        resumed = only(await gate.resume_batch(submitted))
        (result,) = await gate.run_batch([ONE], {"bash": bash})
        gate.before_iteration()
        forgotten = await unanswered(backend, gate.check(ONE))

    assert resumed.line == "allow-once rule 1"
    assert result.content == "ran one"
    assert forgotten.outcome is Outcome.EXPIRED


async def test_a_verdict_given_at_once_holds_for_its_own_arguments_only(backend: Backend) -> None:
    nested = {"command": ["ls"]}
    policy = RulePolicy(allow_once=[Rule("bash")])
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        submitted = await gate.submit_batch([ToolCall("bash", nested, "one")])
        nested["command"].append("-la")
        resumed = only(await gate.resume_batch(submitted))
        other = await unanswered(backend, gate.before_function(ToolCall("bash", nested, "one")))

    assert resumed.arguments == {"command": ["ls"]}
    assert other.outcome is Outcome.EXPIRED


async def test_a_call_that_stands_twice_in_a_batch_is_asked_about_once(backend: Backend) -> None:
    other = ToolCall("bash", {"command": "three"}, "one")
    async with Gate.open(backend, run=RUN) as gate:
        first, again, third = await gate.submit_batch([ONE, replace(ONE), other])

    assert first == again
    assert await open_now(backend) == {first.permission_id, third.permission_id}
    assert first.permission_id != third.permission_id


async def test_an_allow_once_rule_serves_a_call_that_stands_twice(backend: Backend) -> None:
    policy = RulePolicy(allow_once=[Rule("bash")])
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        submitted = await gate.submit_batch([ONE, ONE])
        results = await gate.resume_batch(submitted)

    assert [result.approved for result in results] == [True, True]


async def test_ids_alone_resume_too_and_find_the_same_answers(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        (submitted,) = await gate.submit_batch([ONE])
        assert submitted.permission_id is not None
        await press(backend, submitted.permission_id)
        by_id = await gate.resume_batch([submitted.permission_id])
        whole = await gate.resume_batch([submitted])

    assert by_id == whole
    assert by_id[0].approved


async def test_a_bare_verdict_is_refused_because_it_does_not_say_which_call_it_is_on() -> None:
    async with Gate.open("memory://", run=RUN, policy=RulePolicy(default="allow")) as gate:
        verdict = await gate.submit(ONE)

        with pytest.raises(
            TypeError, match="a CheckResult does not say which call it is for: pass"
        ):
            await gate.resume_batch([verdict])  # type: ignore[list-item]


async def test_an_answer_from_before_an_iteration_is_not_noted_into_it(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN, timeout=5) as gate:
        submitted = await gate.submit_batch([ONE, TWO])
        waiting = asyncio.create_task(gate.resume_batch(submitted))
        await asyncio.sleep(0)
        gate.before_iteration()
        for one in submitted:
            await press(backend, one.permission_id)
        results = await waiting
        asked_again = [await unanswered(backend, gate.check(call)) for call in (ONE, TWO)]

    assert [result.approved for result in results] == [True, True]
    assert [verdict.outcome for verdict in asked_again] == [Outcome.EXPIRED] * 2
