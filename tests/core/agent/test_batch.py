"""One run, many calls: asked in order, run side by side, each answered once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter

from sayso import Gate, Outcome, PendingResult, Rule, RulePolicy, RunRef, SubmittedCall, ToolCall
from sayso.errors import InvalidCallError
from sayso.events import Event
from sayso.policy.decision import Decision, PolicyContext
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import literal_rule
from sayso.stores.backend import Backend
from sayso.testing import Prompt, Stage, a_request, a_response, a_rule

RUN = RunRef("deploy-bot", "s-1")
ONE, TWO, THREE = (ToolCall("bash", {"command": c}, c) for c in ("one", "two", "three"))


def command(prompt: Prompt) -> str:
    return str(prompt.arguments["command"])


def now() -> datetime:
    return datetime.now(UTC)


async def settle(backend: Backend, permission_id: object, *, approved: bool) -> None:
    assert isinstance(permission_id, str)
    record = await backend.store.get(permission_id)
    assert record is not None
    request = record.request
    assert isinstance(request, PermissionRequestEvent)
    give = request.approve if approved else request.deny
    await backend.store.settle(permission_id, give(by="slack:U0ALICE", at=now()))


async def store_always_deny(backend: Backend, call: ToolCall) -> None:
    """Another process of the session stores an *always deny*."""
    request = a_request(run=RUN)
    rule = replace(a_rule(effect="deny"), rule=literal_rule(call))
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle(
        request.permission_id, a_response(request, approved=False), remember=rule
    )


async def test_a_batch_is_asked_one_after_the_other_in_order() -> None:
    async with Stage(answers={"bash": ["allow", "deny", "allow"]}) as stage:
        verdicts = await stage.gate.check_batch([ONE, TWO, THREE])

    assert [command(prompt) for prompt in stage.prompts] == ["one", "two", "three"]
    assert [verdict.approved for verdict in verdicts] == [True, False, True]


async def test_the_next_of_a_batch_is_not_asked_before_the_answer_to_the_last() -> None:
    seen: list[Event] = []
    async with (
        Stage(answers={"bash": "allow"}) as stage,
        Gate.open(stage.backend, run=RUN, observe=seen.append) as gate,
    ):
        await gate.check_batch([ONE, TWO])

    kinds = [type(event).__name__ for event in seen]
    assert kinds == ["PermissionRequestEvent", "PermissionApprovedEvent"] * 2


async def test_before_each_function_the_answer_of_the_batch_is_reused() -> None:
    async with Stage(answers={"bash": ["allow", "deny"]}) as stage:
        stage.gate.before_iteration()
        batch = await stage.gate.before_batch([ONE, TWO])
        one = await stage.gate.before_function(ONE)
        two = await stage.gate.before_function(TWO)
        again = await stage.gate.check(ONE)

    assert [one, two] == batch
    assert again == one
    assert len(stage.prompts) == 2


async def test_one_call_id_is_never_asked_twice_in_an_iteration() -> None:
    async with Stage(answers={"bash": ["deny"]}) as stage:
        first = await stage.gate.before_function(ONE)
        batch = await stage.gate.check_batch([ONE, ToolCall("bash", {"command": "one"}, "one")])

    assert {first.outcome, *(verdict.outcome for verdict in batch)} == {Outcome.DENIED}
    assert len(stage.prompts) == 1


async def test_one_call_id_is_asked_once_even_by_two_at_the_same_time() -> None:
    async with Stage(answers={"bash": ["allow"]}) as stage:
        verdicts = await asyncio.gather(*(stage.gate.before_function(ONE) for _ in range(5)))

    assert all(verdict.approved for verdict in verdicts)
    assert len(stage.prompts) == 1


async def test_a_new_iteration_forgets_the_answers_of_the_last() -> None:
    async with Stage(answers={"bash": ["allow", "deny"]}) as stage:
        await stage.gate.check_batch([ONE])
        stage.gate.before_iteration()
        verdict = await stage.gate.before_function(ONE)

    assert not verdict.approved


@pytest.mark.parametrize(
    "other", [ToolCall("bash", {"command": "rm"}, "one"), ToolCall("sh", {"command": "one"}, "one")]
)
async def test_a_call_id_with_other_arguments_or_another_tool_is_asked_again(
    other: ToolCall,
) -> None:
    async with Stage(answers={"bash": ["allow", "deny"], "sh": "deny"}) as stage:
        await stage.gate.check_batch([ONE])
        verdict = await stage.gate.before_function(other)

    assert not verdict.approved
    assert len(stage.prompts) == 2


async def test_a_reused_answer_has_the_arguments_that_were_approved() -> None:
    nested = {"command": ["ls"]}
    async with Stage(answers={"bash": "allow"}) as stage:
        (verdict,) = await stage.gate.check_batch([ToolCall("bash", nested, "one")])
        nested["command"].append("-la")
        verdict.arguments["command"].append("/")
        again = await stage.gate.before_function(ToolCall("bash", {"command": ["ls"]}, "one"))
        again.arguments["command"].append("/etc")
        once_more = await stage.gate.before_function(ToolCall("bash", {"command": ["ls"]}, "one"))
        assert len(stage.prompts) == 1

    assert (again.approved, once_more.approved) == (True, True)
    assert once_more.arguments == {"command": ["ls"]}


async def test_an_allow_once_rule_is_spent_once_for_the_batch_and_its_function() -> None:
    policy = RulePolicy(allow_once=[Rule("bash")])
    async with Stage(policy=policy, answers={"bash": "deny"}) as stage:
        await stage.gate.check_batch([ONE])
        reused = await stage.gate.before_function(ONE)
        second = await stage.gate.before_function(TWO)

    assert reused.approved
    assert reused.line == "allow-once rule 1"
    assert not second.approved


async def test_an_allow_once_rule_is_not_wasted_on_an_old_memory_of_the_session() -> None:
    policy = RulePolicy(allow_once=[Rule("bash")])
    async with Stage() as stage, Gate.open(stage.backend, run=RUN, policy=policy) as gate:
        stage.hold()
        await store_always_deny(stage.backend, ToolCall("bash", {"command": "other"}))
        first = await gate.check(ONE)
        second = await gate.submit(TWO)

    assert first.line == "allow-once rule 1"
    assert isinstance(second, str)


async def test_what_another_process_denied_for_ever_is_seen_before_a_rule_allows() -> None:
    policy = RulePolicy(default="allow")
    async with Stage() as stage, Gate.open(stage.backend, run=RUN, policy=policy) as gate:
        stage.hold()
        before = await gate.check(ONE)
        await store_always_deny(stage.backend, ONE)
        after = await gate.check(ONE)

    assert before.approved
    assert after.line == "remembered always deny"


async def test_an_always_deny_beats_the_answer_that_a_batch_has_recorded() -> None:
    async with (
        Stage(answers=lambda _: "allow") as stage,
        Gate.open(stage.backend, run=RUN) as gate,
    ):
        (approved,) = await gate.check_batch([ONE])
        await store_always_deny(stage.backend, ONE)
        verdict = await gate.before_function(ONE)

    assert approved.approved
    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "remembered always deny"


async def test_a_denied_call_id_is_denied_although_it_was_approved() -> None:
    async with Stage(answers={"bash": "allow"}) as stage:
        await stage.gate.check_batch([ONE])
        stage.gate.deny_call("one")
        verdict = await stage.gate.before_function(ONE)

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "denied call id"


async def test_a_call_id_denied_in_advance_asks_nobody_and_beats_the_policy() -> None:
    async with Stage(policy=RulePolicy(default="allow")) as stage:
        stage.gate.deny_call("one")
        verdicts = await stage.gate.check_batch([ONE, TWO])

    assert [verdict.approved for verdict in verdicts] == [False, True]
    assert stage.prompts == []


async def test_a_call_id_denied_while_it_is_asked_about_is_denied() -> None:
    def answer(prompt: Prompt) -> str:
        stage.gate.deny_call("one")
        return "allow"

    stage = Stage(answers=answer)
    async with stage:
        verdict = await stage.gate.check(ONE)

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "denied call id"


async def test_a_batch_with_arguments_that_cannot_be_shown_asks_nobody() -> None:
    async with Stage(answers={"bash": "allow"}) as stage:
        with pytest.raises(InvalidCallError):
            await stage.gate.check_batch([ONE, ToolCall("bash", {"command": object()})])

    assert stage.prompts == []


async def test_a_batch_is_approved_in_part_across_suspend_and_resume() -> None:
    policy = RulePolicy(allow=[Rule("read")])
    async with Stage() as stage:
        stage.hold()
        backend = stage.backend
        async with Gate.open(backend, run=RUN, policy=policy) as gate:
            submitted = await gate.submit_batch([ONE, ToolCall("read", {}, "r"), TWO, THREE])
        await settle(backend, submitted[0].permission_id, approved=True)
        await settle(backend, submitted[2].permission_id, approved=False)
        shelf = TypeAdapter(list[SubmittedCall])
        stored = shelf.validate_json(shelf.dump_json(submitted))

        async with Gate.open(backend, run=replace(RUN, run_id="later"), policy=policy) as gate:
            results = await gate.resume_batch(stored, wait=False)
            one = await gate.before_function(ONE)
            two = await gate.before_function(TWO)
            waiting = asyncio.create_task(gate.resume_batch(submitted))
            await settle(backend, submitted[3].permission_id, approved=True)
            whole = await waiting

    assert [type(result).__name__ for result in results] == ["CheckResult"] * 3 + ["PendingResult"]
    assert [result.approved for result in results] == [True, True, False, False]
    assert results[0].tool == "bash"
    assert one.arguments == {"command": "one"}
    assert one.approved
    assert two.outcome is Outcome.DENIED
    assert [verdict.approved for verdict in whole] == [True, True, False, True]


async def test_what_is_still_open_after_the_timeout_is_reported_as_open() -> None:
    async with Stage() as stage:
        stage.hold()
        async with Gate.open(stage.backend, run=RUN) as gate:
            submitted = await gate.submit_batch([ONE, TWO])
            await settle(stage.backend, submitted[1].permission_id, approved=True)
            results = await gate.resume_batch(submitted, timeout=timedelta(milliseconds=30))

    assert isinstance(results[0], PendingResult)
    assert results[0].permission_id == submitted[0].permission_id
    assert "waits for an answer" in results[0].as_tool_result()
    assert results[1].approved


async def test_arguments_that_a_policy_changes_are_what_is_asked_and_what_runs() -> None:
    def careful(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments({**call.arguments, "dry_run": True})

    ran: list[tuple[str, bool]] = []

    async def bash(command: str, *, dry_run: bool = False) -> None:
        ran.append((command, dry_run))

    async with Stage(policy=careful, answers={"bash": "allow"}) as stage:
        await stage.gate.run_batch([ONE], {"bash": bash})
        again = await stage.gate.before_function(ONE)

    assert stage.prompts[0].arguments == {"command": "one", "dry_run": True}
    assert ran == [("one", True)]
    assert again.arguments == {"command": "one", "dry_run": True}
    assert len(stage.prompts) == 1


async def test_a_resumed_answer_to_changed_arguments_is_reused_and_not_asked_again() -> None:
    def careful(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments({**call.arguments, "dry_run": True})

    async with Stage() as stage:
        stage.hold()
        async with Gate.open(stage.backend, run=RUN, policy=careful) as gate:
            submitted = await gate.submit_batch([ONE])
        await settle(stage.backend, submitted[0].permission_id, approved=True)
        async with Gate.open(stage.backend, run=RUN, policy=careful) as gate:
            await gate.resume_batch(submitted)
            verdict = await gate.before_function(ONE)

    assert verdict.arguments == {"command": "one", "dry_run": True}
    assert verdict.permission_id == submitted[0].permission_id


async def test_a_whole_batch_says_which_source_asks_and_why() -> None:
    async with Stage(answers={"bash": "allow"}) as stage:
        await stage.gate.check_batch([ONE, TWO], source_name="planner", description="a release")

    assert {(prompt.source_name, prompt.description) for prompt in stage.prompts} == {
        ("planner", "a release")
    }


async def test_a_call_id_denied_in_the_policy_is_denied_although_it_was_approved() -> None:
    policy = RulePolicy()
    async with Stage(policy=policy, answers={"bash": "allow"}) as stage:
        await stage.gate.check_batch([ONE])
        policy.deny_call_id("one")
        verdict = await stage.gate.before_function(ONE)

    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "denied call id"


async def test_a_question_that_a_policy_asks_itself_is_put_once() -> None:
    async def asks(call: ToolCall, context: PolicyContext) -> Decision:
        assert context.ask is not None
        request = a_request(run=context.run)
        until = stage.clock() + timedelta(minutes=1)
        ending = await context.ask(request.model_copy(update={"expires_at": until}))
        asked.append(request.permission_id)
        await store_always_deny(stage.backend, TWO)
        return Decision.ALLOW if ending.outcome is Outcome.APPROVED else Decision.DENY

    asked: list[str] = []
    async with (
        Stage(answers={"run_command": "allow"}) as stage,
        Gate.open(stage.backend, run=RUN, policy=asks, clock=stage.clock) as gate,
    ):
        one = await gate.check(ONE)
        two = await gate.check(TWO)

    assert one.approved
    assert two.line == "remembered always deny"
    assert len(asked) == 2
