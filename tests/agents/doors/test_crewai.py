"""The doors for CrewAI: what every door promises, and what is their own."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from crewai.flow import Flow, human_feedback, start
from crewai.flow.async_feedback.types import PendingFeedbackContext
from crewai.hooks import ToolCallHookContext
from crewai.hooks.tool_hooks import run_before_tool_call_hooks
from crewai.tools import tool
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from support.agent_pages import ANSWERS, all_do_as_was_said
from support.conformance import RAN, STAGING, DoorContract, KilledContract, SyncContract
from support.crewai_doors import (
    Guarded,
    Hooked,
    Scripted,
    crew_of,
    playing,
    repeating,
    tools_of,
)
from support.doors import Work, agents_handle, deploy
from support.fail_closed import Double, FailClosedContract, raising
from support.scenes import cards
from support.unanswered import expire_now

from sayso import Decision, Gate, ToolCall
from sayso.errors import RequestUnansweredError
from sayso.stores.connect import open_store
from sayso_agents.crewai import SaysoFeedback, akickoff, guard, guard_tools


class TestCrewAI(DoorContract, SyncContract, KilledContract):
    door = Guarded()

    async def test_the_model_is_told_what_a_person_changed(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        (said,) = await running
        assert said.startswith("deploy is done: staging, 42\n\nA person changed this call")

    async def test_a_guarded_tool_is_asked_about_once_where_every_tool_is(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        with guard_tools(sayso):
            running = scene.ask(self.door.run(sayso, work))
            await slack.press("Allow")
            await running

        assert work.ran == [RAN]
        assert cards(scene) == 1


async def test_nothing_runs_on_an_approval_that_comes_once_the_crew_was_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun, decide, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

    async def late(call: ToolCall, context: object) -> Decision:
        loop.call_soon_threadsafe(begun.set)
        await asyncio.to_thread(decide.wait)
        return Decision.ALLOW

    work = Work([[deploy()]])
    with agents_handle("memory://", policy=late) as sayso:
        crew = crew_of(playing(work), guard(sayso, tools_of(work)))
        running = asyncio.create_task(akickoff(sayso, crew))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        decide.set()
        # The thread that CrewAI left behind has its answer, and ends.
        while not work.ran and "deploy did not run" not in caplog.text:
            await asyncio.sleep(0.01)

    assert work.ran == []


class TestCrewAIByAHook(FailClosedContract):
    door = Hooked()

    async def test_an_edited_call_runs_as_edited(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        assert await running == ["deploy is done: staging, 42"]
        assert work.ran == [("deploy", STAGING)]

    async def test_an_agent_is_named_by_its_role(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        running = scene.ask(self.door.run(sayso, Work([[deploy()]])))

        assert "deploy-bot › Deployer" in await slack.card()
        await slack.press("Deny")
        await running


def test_a_hook_that_cannot_read_a_call_lets_nothing_run() -> None:
    with guard_tools(cast("Gate", Double(raising))):
        blocked = run_before_tool_call_hooks(
            cast("ToolCallHookContext", SimpleNamespace(agent=None))
        )

    assert blocked


def test_hooks_end_with_their_block() -> None:
    with guard_tools(cast("Gate", Double(raising))):
        pass
    context = ToolCallHookContext("deploy", {}, cast("Any", None))

    assert not run_before_tool_call_hooks(context)


def test_what_is_no_tool_of_crewai_is_refused() -> None:
    with agents_handle("memory://") as sayso, pytest.raises(TypeError, match="function is none"):
        guard(sayso, [cast("Any", lambda: None)])


def test_a_guarded_tool_that_is_called_outside_of_a_crew_asks() -> None:
    async def deny(call: ToolCall, context: object) -> Decision:
        return Decision.DENY.because("never on a Friday")

    work = Work([])
    with agents_handle("memory://", policy=deny) as sayso:
        (made, _) = guard(sayso, tools_of(work))
        said = made.run(environment="production", release=42)
        structured = made.to_structured_tool().invoke({"environment": "production", "release": 42})

    assert "never on a Friday" in said
    assert "never on a Friday" in structured
    assert work.ran == []


def test_a_tools_own_limit_counts_what_ran() -> None:
    decisions = iter([Decision.DENY, Decision.ALLOW, Decision.ALLOW])

    async def policy(call: ToolCall, context: object) -> Decision:
        return next(decisions)

    @tool("once")
    def once(word: str) -> str:
        """Say a word."""
        return word

    once.max_usage_count = 1
    with agents_handle("memory://", policy=policy) as sayso:
        (made,) = guard(sayso, [once])
        said = [str(made.run(word="yes")) for _ in range(3)]

    assert "did not run" in said[0]
    assert said[1] == "yes"
    assert "usage limit" in said[2]


def a_question(*emit: str) -> PendingFeedbackContext:
    return PendingFeedbackContext(
        flow_id="flow-1",
        flow_class="tests.Review",
        method_name="draft",
        method_output={"title": "Release 42"},
        message="May this be published?",
        emit=list(emit) or None,
    )


class TestFeedback:
    @pytest.fixture
    async def scene(self, store_url: str) -> Any:
        async with asked(store_url) as opened:
            yield opened

    @pytest.fixture
    def provider(self, store_url: str) -> Any:
        with agents_handle(store_url) as sayso:
            yield SaysoFeedback(sayso)

    async def test_the_outcomes_are_buttons_and_the_draft_is_on_the_card(
        self, scene: Asked, provider: SaysoFeedback
    ) -> None:
        slack = SlackHands(scene.playground)
        asking = asyncio.to_thread(
            provider.request_feedback, a_question("approved", "rejected"), None
        )
        running = scene.ask(asking)

        card = await slack.card()
        await slack.press("rejected")

        assert await running == "rejected"
        assert "May this be published?" in card
        assert "Release 42" in card

    async def test_an_answer_in_words_is_the_feedback(
        self, scene: Asked, provider: SaysoFeedback
    ) -> None:
        slack = SlackHands(scene.playground)
        running = scene.ask(asyncio.to_thread(provider.request_feedback, a_question(), None))

        await slack.fill_in("Answer…", {"Your answer": "Shorter, please"})

        assert await running == "Shorter, please"

    async def test_silence_is_no_feedback_and_never_the_first_of_the_outcomes(
        self, scene: Asked, store_url: str
    ) -> None:
        routed: list[str] = []
        with agents_handle(store_url) as sayso:

            class Review(Flow[Any]):
                _skip_auto_memory = True

                @start()
                @human_feedback(
                    message="May this be published?",
                    emit=["approved", "rejected"],
                    llm=Scripted(model="scripted"),
                    default_outcome="approved",
                    provider=SaysoFeedback(sayso),
                )
                def draft(self) -> str:
                    routed.append("drafted")
                    return "Release 42 is out."

            running = scene.ask(Review().kickoff_async())
            await SlackHands(scene.playground).card()
            async with open_store(store_url) as backend:
                await expire_now(backend)

            with pytest.raises(RequestUnansweredError):
                await running
        assert routed == ["drafted"]

    @pytest.mark.parametrize("answer", ["", "  \n", None])
    def test_an_empty_answer_is_none(self, answer: str | None) -> None:
        said = SimpleNamespace(answer=answer, reason="", outcome=SimpleNamespace(value="expired"))
        provider = SaysoFeedback(cast("Gate", Double(lambda: said)))

        with pytest.raises(RequestUnansweredError, match="expired"):
            provider.request_feedback(a_question("approved"), None)

    def test_a_failure_is_none(self) -> None:
        with pytest.raises(RuntimeError, match="a mistake of ours"):
            SaysoFeedback(cast("Gate", Double(raising))).request_feedback(a_question(), None)


@pytest.mark.parametrize(("button", "printed"), ANSWERS)
async def test_the_programs_on_the_page_ask_and_do_as_was_said(
    store_url: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    button: str,
    printed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_STORE_URL", store_url)
    async with asked(store_url) as scene:
        await all_do_as_was_said("crewai", repeating(), scene, capsys, button, printed)
