"""What an agent reads in place of its tool's result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sayso import (
    CheckResult,
    Decision,
    Gate,
    Outcome,
    PolicyContext,
    Rule,
    RulePolicy,
    RunRef,
    ToolCall,
)
from sayso.agent.verdict import verdict_on
from sayso.errors import ArgumentsChangedError
from sayso.events import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import a_request, a_response, a_rule

_ENDED_BY_SOMEBODY = [outcome for outcome in Outcome if outcome is not Outcome.EXPIRED]


@pytest.mark.parametrize("reason", ["denied", "as", "approved", "not", "nobody", "was"])
@pytest.mark.parametrize("outcome", _ENDED_BY_SOMEBODY)
def test_a_reason_is_told_whatever_its_words_are(outcome: Outcome, reason: str) -> None:
    told = CheckResult(outcome, "bash", {}, reason).as_tool_result()

    assert told.removesuffix(" It did not run.").endswith(f": {reason}.")


def test_what_expired_says_so_once() -> None:
    verdict = CheckResult(Outcome.EXPIRED, "bash", {}, "nobody answered in time")

    assert verdict.as_tool_result() == (
        "The call of bash was not approved: nobody answered in time. It did not run."
    )


def test_what_somebody_ended_without_a_reason_names_none() -> None:
    verdict = CheckResult(Outcome.DENIED, "bash", {}, decided_by="slack:U0ALICE")

    assert verdict.as_tool_result() == ("The call of bash was denied by a person. It did not run.")


def test_an_approval_is_of_the_arguments_that_were_asked_about_and_of_no_others() -> None:
    request = a_request(arguments={"command": "ls"})
    approval = request.approve(by="slack:U0ALICE")
    digest = request.arguments_digest
    other = ToolCall(request.function_name, {"command": "rm"}, request.call_id)

    assert verdict_on(replace(other, arguments={"command": "ls"}), digest, approval).approved
    with pytest.raises(ArgumentsChangedError):
        verdict_on(other, digest, approval)
    with pytest.raises(ArgumentsChangedError):
        verdict_on(other, a_request(arguments=other.arguments).arguments_digest, approval)


def test_a_person_is_named_by_account_only_to_those_who_ask_for_it() -> None:
    verdict = CheckResult(Outcome.DENIED, "bash", {}, "not now", decided_by="slack:U0ALICE")

    assert "by a person: not now" in verdict.as_tool_result()
    assert "by your operator: not now" in verdict.as_tool_result(who="your operator")
    assert "by slack:U0ALICE: not now" in verdict.as_tool_result(who=None)


RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls"})


class Turning:
    """A policy that asks at first, and denies later on."""

    def __init__(self) -> None:
        self.denies = False

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK

    async def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        return Decision.DENY.because("not today", line="code") if self.denies else None


async def _denied_by_an_always(backend: Backend) -> CheckResult:
    rule = a_rule("bash", effect="deny")
    request = a_request(run=RUN, tool="bash", arguments={})
    await backend.store.open(request, seconds=30, inbox="", book=None)
    response = a_response(request, approved=False)
    await backend.store.settle(request.question_id, response, remember=rule)
    async with Gate.open(backend, run=RUN) as gate:
        return await gate.check(ToolCall("bash"))


async def _approved_then_denied(backend: Backend) -> CheckResult:
    policy = Turning()
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        asked = await gate.submit(LS)
        assert isinstance(asked, str)
        record = await backend.store.get(asked)
        assert record is not None
        assert isinstance(record.request, PermissionRequestEvent)
        await backend.store.settle(asked, a_response(record.request))
        policy.denies = True
        await gate.resume(asked)
    async with Gate.open(backend, run=RUN) as elsewhere:
        return await elsewhere.resume(asked)


async def _denied_whoever_answers(backend: Backend) -> CheckResult:
    request = a_request(run=RUN, tool="bash", arguments=dict(LS.arguments))
    policy = RulePolicy(deny=[Rule("bash")])
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        denial = await gate.overruled(request, a_response(request))
    assert denial is not None
    return verdict_on(LS, request.arguments_digest, denial)


REASONS = {
    "an Always": _denied_by_an_always,
    "an approval that was overruled": _approved_then_denied,
    "an answer that could not allow it": _denied_whoever_answers,
}


@pytest.mark.parametrize("reason", REASONS)
async def test_no_account_that_a_reason_of_ours_names_is_told_to_a_model(
    reason: str, backend: Backend
) -> None:
    verdict = await REASONS[reason](backend)

    assert "slack:U0ALICE" in verdict.as_tool_result(who=None)
    assert "slack:U0ALICE" not in verdict.as_tool_result()
    assert "a person" in verdict.as_tool_result()


def test_what_a_person_wrote_is_told_as_it_is() -> None:
    verdict = CheckResult(Outcome.DENIED, "bash", {}, "ask slack:U0BOB: it is his")

    assert "ask slack:U0BOB: it is his" in verdict.as_tool_result()
