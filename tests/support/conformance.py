"""What every door for a framework promises; each runs these tests, a new one is one subclass.

``DoorContract`` is for one way into each framework, with ``KilledContract``;
``OtherWayContract`` is for the other ways into it, and
``AgainContract``, ``SyncContract`` and ``SuspendedContract`` where the framework has that.

Everything is real but the model and the chats: the framework's own machinery, a handle, Redis,
the bots as ``sayso serve`` runs them, and both platforms' doubles.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from e2e.asked import Asked
from e2e.hands import SlackHands
from support.doors import Work, agents_handle, deploy, restart
from support.fail_closed import FailClosedContract
from support.live import is_live
from support.scenes import Scenes, cards
from support.unanswered import expire_now

from sayso import Decision, Gate, ToolCall
from sayso.stores.connect import open_store

TESTS = Path(__file__).parents[1]
STAGING = {"environment": "staging", "release": 42}
RAN = ("deploy", {"environment": "production", "release": 42})


def changing(decision: Decision) -> Callable[[ToolCall, object], Awaitable[Decision]]:
    """A policy that decides so on each call, for another environment than the model's."""

    async def policy(call: ToolCall, context: object) -> Decision:
        return decision.with_arguments(STAGING)

    return policy


class OtherWayContract(FailClosedContract):
    """A second way into a framework whose first one keeps the whole contract."""

    async def test_an_allowed_call_runs_once_and_the_model_has_its_result(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))
        assert "production" in await slack.card()
        assert work.ran == []

        await slack.press("Allow")

        assert await running == ["deploy is done: production, 42"]
        assert work.ran == [RAN]

    async def test_the_model_hears_the_reason_of_a_denial_and_no_account(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Deny with a reason…", {"Reason": "Release 41 is still out"})

        (told,) = await running
        assert "Release 41 is still out" in told
        assert "U0ALICE" not in told
        assert work.ran == []

    async def test_an_edited_call_runs_as_edited_or_not_at_all(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        (told,) = await running
        assert "staging" in told
        assert work.ran == ([("deploy", STAGING)] if self.door.carries_edits else [])

    async def test_calls_of_one_message_share_a_card_and_are_decided_each_on_its_own(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy(), restart()]])
        running = scene.ask(self.door.run(sayso, work))
        assert "2 calls are waiting" in await slack.card()

        await slack.press("Deny 1")
        await slack.press("Allow 2")

        told = await running
        assert [tool for tool, _ in work.ran] == [
            tool
            for tool, text in zip(("deploy", "restart"), told, strict=True)
            if text.startswith(f"{tool} is done")
        ]
        assert len(work.ran) == 1
        assert cards(scene) == 1

    async def test_a_run_that_is_cancelled_withdraws_its_card(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))
        await slack.card()

        running.cancel()

        with pytest.raises(asyncio.CancelledError):
            await running
        await slack.ended("Cancelled")
        assert work.ran == []


class DoorContract(OtherWayContract):
    """Nothing runs unless somebody allowed it, as it was allowed; the model hears the rest."""

    async def test_after_always_the_same_call_is_not_asked_about_again(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()], [deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.press("Always")

        assert await running == ["deploy is done: production, 42"] * 2
        assert work.ran == [RAN, RAN]
        assert cards(scene) == 1

    async def test_without_the_name_of_a_conversation_a_second_run_is_asked_about_anew(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        first, second = (Work([[deploy()]], session=None) for _ in range(2))
        running = scene.ask(self.door.run(sayso, first))
        await slack.card()
        await slack.press("Always" if await slack.offers("Always") else "Allow")
        await running
        # Before that, its card may still have the button that is meant for the next one.
        await slack.ended("Approved")

        again = scene.ask(self.door.run(sayso, second))
        await slack.press("Deny")
        await again

        assert (first.ran, second.ran) == ([RAN], [])
        assert cards(scene) == 2

    async def test_the_same_call_of_a_later_message_is_asked_about_anew(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()], [deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.press("Allow")
        await slack.ended("Approved")
        await slack.press("Deny")

        assert [text.startswith("deploy is done") for text in await running] == [True, False]
        assert work.ran == [RAN]

    async def test_a_policy_changes_the_arguments_and_the_changed_call_runs_or_nothing(
        self,
    ) -> None:
        work = Work([[deploy()]])
        with agents_handle("memory://", policy=changing(Decision.ALLOW)) as sayso:
            await self.door.run(sayso, work)

        assert work.ran == ([("deploy", STAGING)] if self.door.carries_edits else [])

    async def test_a_policy_changes_the_arguments_and_what_was_shown_runs_or_nothing(
        self, scene: Asked, slack: SlackHands, store_url: str
    ) -> None:
        work = Work([[deploy()]])
        with agents_handle(store_url, policy=changing(Decision.ASK)) as sayso:
            running = scene.ask(self.door.run(sayso, work))
            assert "staging" in await slack.card()
            await slack.press("Allow")
            await running

        assert work.ran == ([("deploy", STAGING)] if self.door.carries_edits else [])

    async def test_a_question_that_nobody_answers_is_told_as_an_expiry(
        self, scene: Asked, slack: SlackHands, sayso: Gate, store_url: str
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))
        await slack.card()

        async with open_store(store_url) as backend:
            await expire_now(backend)

        (told,) = await running
        assert work.ran == []
        assert "nobody answered in time" in told
        if not self.door.words_of_its_own:
            assert "denied" not in told
            assert "rejected" not in told
        await slack.ended("Expired")


class AgainContract(Scenes):
    """What those promise that may be handed one call more than once."""

    async def test_a_call_that_is_made_again_is_asked_about_once_and_runs_once(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run_again(sayso, work))

        await slack.press("Allow")
        await running

        assert work.ran == [RAN]
        assert cards(scene) == 1


class SyncContract(Scenes):
    """What those promise that are there for programs without an event loop."""

    async def test_a_program_without_an_event_loop_is_answered_as_well(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()], [restart()]])
        running = scene.ask(asyncio.to_thread(self.door.run_sync, sayso, work))

        await slack.press("Allow")
        await slack.ended("Approved")
        await slack.press("Deny")

        told = await running
        assert [text.endswith("is done: production, 42") for text in told] == [True, False]
        assert work.ran == [RAN]


class KilledContract(Scenes):
    """What one door of each framework shows in a process of its own."""

    async def test_nothing_runs_in_a_process_that_is_killed(
        self, scene: Asked, slack: SlackHands, store_url: str, tmp_path: Path
    ) -> None:
        mark = tmp_path / "ran"
        file, name = inspect.getfile(type(self.door)), type(self.door).__qualname__
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "support.lone_agent", file, name, store_url, str(mark)),
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
            cwd=tmp_path,
        )
        try:
            await slack.card()
        finally:
            process.send_signal(signal.SIGKILL)
            await process.wait()

        await slack.press("Allow")
        await slack.ended("Approved")
        assert not mark.exists()


class SuspendedContract(Scenes):
    """What those promise whose runs can be put aside."""

    async def test_a_run_goes_on_in_another_process_with_what_was_answered_meanwhile(
        self, scene: Asked, slack: SlackHands, store_url: str
    ) -> None:
        work = Work([[deploy()]])
        with agents_handle(store_url) as sayso:
            kept = await self.door.start(sayso, work)
        assert work.ran == []
        await slack.press("Allow")
        await slack.ended("Approved")

        with agents_handle(store_url) as sayso:
            told = await self.door.go_on(sayso, work, kept)

        assert told == ["deploy is done: production, 42"]
        assert work.ran == [RAN]
        assert cards(scene) == 1

    async def test_a_run_that_goes_on_too_early_waits_for_the_same_card(
        self, scene: Asked, slack: SlackHands, store_url: str
    ) -> None:
        work = Work([[deploy(), restart()]])
        with agents_handle(store_url) as sayso:
            kept = await self.door.start(sayso, work)
        assert "2 calls are waiting" in await slack.card()

        with agents_handle(store_url) as sayso:
            running = scene.ask(self.door.go_on(sayso, work, kept))
            await slack.press("Deny 1")
            await slack.press("Allow 2")
            told = await running

        assert len(work.ran) == 1
        assert sum("is done" in text for text in told) == 1
        assert cards(scene) == 1


async def all_ended(scene: Asked) -> None:
    """Return when no card in Slack can be pressed any more."""
    slack = scene.playground.slack
    await slack.until(lambda: not any(is_live(message.buttons) for message in slack.messages()))
