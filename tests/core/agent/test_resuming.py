"""A question that was submitted: resumed by its own session, against all that was asked about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.records_0_1_0 import digest_of_0_1_0

from sayso import Clarification, Clarify, Gate, Outcome, RunRef, ToolCall
from sayso.agent.verdict import CheckResult
from sayso.errors import RequestNotFoundError
from sayso.policy.decision import Decision, Policy, PolicyContext
from sayso.policy.rule_policy import RulePolicy
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.questions.wire import decode, encode
from sayso.rules.rule import Rule, literal_rule
from sayso.stores.backend import Backend
from sayso.testing import a_request, a_response, a_rule

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls"})
OTHERS = [RunRef("deploy-bot", "s-2"), RunRef("other-bot", "s-1")]


async def approve(backend: Backend, question_id: str) -> None:
    record = await backend.store.get(question_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    await backend.store.settle(question_id, a_response(record.request))


async def always_deny(backend: Backend, call: ToolCall, run: RunRef = RUN) -> None:
    await remember_denial(backend, literal_rule(call), run)


async def remember_denial(backend: Backend, rule: Rule, run: RunRef = RUN) -> None:
    remembered = replace(a_rule(effect="deny"), rule=rule)
    request = a_request(run=run)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    await backend.store.settle(request.permission_id, a_response(request), remember=remembered)


@pytest.mark.parametrize("other", OTHERS)
async def test_a_gate_of_another_agent_or_session_does_not_know_the_question(
    backend: Backend, other: RunRef
) -> None:
    async with Gate.open(backend, run=RUN) as gate, Gate.open(backend, run=other) as stranger:
        submitted = await gate.submit(LS)
        asked = await gate.submit(Clarify("Where?"))
        assert isinstance(submitted, str)
        await approve(backend, submitted)
        # What is denied in the session of the question counts, and only that.
        await always_deny(backend, LS)

        waits: list[Callable[[], Any]] = [
            lambda: stranger.resume(submitted),
            lambda: stranger.resume_batch([submitted], wait=False),
            lambda: stranger.resume(asked, expect=Clarification, timeout=0.05),
            lambda: stranger.wait_for_response(PermissionResponseEvent, submitted, 0.05),
        ]
        for wait in waits:
            with pytest.raises(RequestNotFoundError):
                await wait()

        assert (await gate.resume(submitted)).line == "remembered always deny"


async def test_another_branch_and_run_of_the_session_resumes_the_question(backend: Backend) -> None:
    later = RunRef("deploy-bot", "s-1", "experiment", "another run")
    async with Gate.open(backend, run=RUN) as gate, Gate.open(backend, run=later) as other:
        submitted = await gate.submit(LS)
        assert isinstance(submitted, str)
        await approve(backend, submitted)

        assert (await other.resume(submitted)).approved


def two(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ASK.with_arguments({"command": "ls -l"})


class DeniesLs(RulePolicy):
    """Asks about the call with other arguments."""

    def decide(self, call: ToolCall, context: PolicyContext) -> Any:
        return self.denial(call, context) or two(call, context)


@pytest.mark.parametrize("how", ["resume", "batch", "batch by id"])
@pytest.mark.parametrize("who", ["a person", "a policy"])
async def test_what_is_denied_as_it_was_called_is_not_approved_as_a_policy_rewrote_it(
    backend: Backend, how: str, who: str
) -> None:
    policy: Policy = two
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        [one] = await gate.submit_batch([LS])
        permission_id = one.permission_id
        assert permission_id is not None
        await approve(backend, permission_id)
        if who == "a person":
            await always_deny(backend, LS)
        else:
            policy = DeniesLs(deny=[Rule("bash", {"command": "ls"})])

    # A gate of another process: all it knows is in the store, or in what was handed in.
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        if how == "resume":
            verdict = await gate.resume(permission_id)
        else:
            [resumed] = await gate.resume_batch([one if how == "batch" else permission_id])
            assert isinstance(resumed, CheckResult)
            verdict = resumed

    line = "remembered always deny" if who == "a person" else "deny rule 1"
    assert (verdict.outcome, verdict.line) == (Outcome.DENIED, line)


async def test_what_is_not_denied_is_approved_as_a_policy_rewrote_it(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN, policy=two) as gate:
        submitted = await gate.submit(LS)
        assert isinstance(submitted, str)
        await always_deny(backend, ToolCall("bash", {"command": "ls -a"}))
        await approve(backend, submitted)

        verdict = await gate.resume(submitted)

    assert verdict.approved
    assert verdict.arguments == {"command": "ls -l"}


async def test_a_request_keeps_the_original_arguments_only_where_they_are_others(
    backend: Backend,
) -> None:
    async def original(policy: Policy) -> Any:
        async with Gate.open(backend, run=RUN, policy=policy) as gate:
            submitted = await gate.submit(LS)
            assert isinstance(submitted, str)
            record = await backend.store.get(submitted)
        assert record is not None
        read = decode(encode(record.request))
        assert isinstance(read, PermissionRequestEvent)
        return read.original_arguments

    def same(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments(dict(call.arguments))

    assert await original(two) == {"command": "ls"}
    assert await original(same) is None
    assert await original(RulePolicy()) is None


async def test_what_a_policy_writes_in_another_way_is_still_the_call_that_was_denied(
    backend: Backend,
) -> None:
    async def whole(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments({"n": int(call.arguments["n"])})

    call = ToolCall("pay", {"n": 1.0})
    async with Gate.open(backend, run=RUN, policy=whole) as gate:
        submitted = await gate.submit(call)
        assert isinstance(submitted, str)
        rule = Rule("pay", arguments_digest=digest_of_0_1_0(call.arguments))
        await remember_denial(backend, rule)
        await approve(backend, submitted)

        assert (await gate.resume(submitted)).outcome is Outcome.DENIED
