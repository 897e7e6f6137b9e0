"""What all doors share: a verdict becomes arguments to run with, or words for the model."""

from __future__ import annotations

import asyncio

import pytest

from sayso import CheckResult, Outcome, ToolCall, connect
from sayso.errors import StoreUnreachableError
from sayso_agents import missing
from sayso_agents.calls import Said, asked, said_of

ARGUMENTS = {"environment": "production"}
CALL = ToolCall("deploy", ARGUMENTS)
APPROVED = CheckResult(Outcome.APPROVED, "deploy", ARGUMENTS, decided_by="slack:U0ALICE")
EDITED = CheckResult(
    Outcome.APPROVED, "deploy", {"environment": "staging"}, asked_arguments=ARGUMENTS
)


def of(outcome: Outcome, reason: str = "") -> CheckResult:
    return CheckResult(outcome, "deploy", ARGUMENTS, reason, decided_by="slack:U0ALICE")


def test_an_approved_call_runs_with_the_arguments_of_its_verdict() -> None:
    assert said_of(APPROVED, CALL).arguments == ARGUMENTS
    assert said_of(EDITED, CALL).arguments == {"environment": "staging"}
    assert (said_of(APPROVED, CALL).edited, said_of(EDITED, CALL).edited) == (False, True)
    assert said_of(APPROVED, CALL).text == ""
    assert '"staging"' in said_of(EDITED, CALL).text


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.APPROVED])
def test_any_other_outcome_runs_nothing_and_is_told_as_what_it_was(outcome: Outcome) -> None:
    said = said_of(of(outcome, "too risky"), CALL)

    assert said.arguments is None
    assert "did not run" in said.text
    assert ("was denied" in said.text) is (outcome is Outcome.DENIED)


def test_the_model_is_told_the_reason() -> None:
    assert "too risky" in said_of(of(Outcome.DENIED, "too risky"), CALL).text
    assert "U0ALICE" not in said_of(of(Outcome.DENIED), CALL).text


@pytest.mark.parametrize("answer", [None, True, "approved", {"approved": True}, object()])
async def test_an_answer_that_is_no_verdict_runs_nothing(answer: object) -> None:
    async def ask(_: ToolCall) -> object:
        return answer

    said = await asked("deploy", lambda: CALL, ask)

    assert said.arguments is None
    assert "not a verdict" in said.text


async def test_every_exception_is_a_no_that_names_the_cause() -> None:
    async def away(_: ToolCall) -> object:
        raise StoreUnreachableError("the store cannot be reached")

    async def broken(_: ToolCall) -> object:
        raise KeyError("oops")

    one, other = (
        await asked("deploy", lambda: CALL, away),
        await asked("deploy", lambda: CALL, broken),
    )

    assert one == Said(
        None, "The call of deploy was not approved: the store cannot be reached. It did not run."
    )
    assert other.arguments is None
    assert "asking failed with KeyError: 'oops'" in other.text


async def test_an_error_of_ours_is_told_as_it_is_with_the_hint_in_it() -> None:
    async def connects(_: ToolCall) -> object:
        return connect("redis://localhost:port")

    said = await asked("deploy", lambda: CALL, connects)

    assert "the port in the store's URL is not a number" in said.text
    assert "redis://user:password@host:6379/0" in said.text


async def test_a_cause_shows_no_secret_and_stays_on_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def leaking(_: ToolCall) -> object:
        raise ValueError(f"password=hunter2hunter2\nDeploy it: {'x' * 5000}")

    said = await asked("deploy", lambda: CALL, leaking)

    assert "hunter2" not in said.text + caplog.text
    assert "\n" not in said.text
    assert len(said.text) < 500


async def test_being_cancelled_is_passed_on() -> None:
    async def cancelled(_: ToolCall) -> object:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await asked("deploy", lambda: CALL, cancelled)


def test_an_edit_that_cannot_be_carried_is_a_no_that_shows_what_is_wanted() -> None:
    said = said_of(EDITED, CALL).unedited("deploy")

    assert said.arguments is None
    assert "did not run" in said.text
    assert '{"environment": "staging"}' in said.text
    assert said_of(APPROVED, CALL).unedited("deploy") == said_of(APPROVED, CALL)


def test_what_a_policy_changed_cannot_be_taken_for_the_call_as_it_was_made() -> None:
    changed = CheckResult(Outcome.APPROVED, "deploy", {"environment": "staging"}, line="policy")
    said = said_of(changed, CALL)

    assert (said.arguments, said.edited) == ({"environment": "staging"}, True)
    assert said.text == ""
    assert said.unedited("deploy").arguments is None


async def test_a_call_that_cannot_be_read_is_a_no() -> None:
    def unreadable() -> ToolCall:
        raise ValueError("its arguments are not a JSON object")

    async def ask(_: ToolCall) -> object:
        return APPROVED

    said = await asked("deploy", unreadable, ask)

    assert said.arguments is None
    assert "not a JSON object" in said.text


def test_a_missing_framework_is_one_line_with_the_command() -> None:
    error = missing("LangChain", ModuleNotFoundError("No module named 'langchain'"), "langchain>=1")

    assert str(error) == (
        "LangChain is missing or does not fit (No module named 'langchain'): "
        "pip install 'langchain>=1'"
    )
