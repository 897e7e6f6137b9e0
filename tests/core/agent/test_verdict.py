"""What an agent reads in place of its tool's result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sayso import Outcome, ToolCall, Verdict
from sayso.agent.verdict import verdict_on
from sayso.errors import ArgumentsChangedError
from sayso.testing import a_request

_ENDED_BY_SOMEBODY = [outcome for outcome in Outcome if outcome is not Outcome.EXPIRED]


@pytest.mark.parametrize("reason", ["denied", "as", "approved", "not", "nobody", "was"])
@pytest.mark.parametrize("outcome", _ENDED_BY_SOMEBODY)
def test_a_reason_is_told_whatever_its_words_are(outcome: Outcome, reason: str) -> None:
    told = Verdict(outcome, "bash", {}, reason).as_tool_result()

    assert told.removesuffix(" It did not run.").endswith(f": {reason}.")


def test_what_expired_says_so_once() -> None:
    verdict = Verdict(Outcome.EXPIRED, "bash", {}, "nobody answered in time")

    assert verdict.as_tool_result() == (
        "The call of bash was not approved: nobody answered in time. It did not run."
    )


def test_what_somebody_ended_without_a_reason_names_none() -> None:
    verdict = Verdict(Outcome.DENIED, "bash", {}, decided_by="slack:U0ALICE")

    assert verdict.as_tool_result() == (
        "The call of bash was denied by slack:U0ALICE. It did not run."
    )


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
