"""What every door promises where something is wrong: nothing runs, and the model is told why."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from e2e.asked import Asked
from e2e.hands import SlackHands
from support.doors import Work, agents_handle, deploy
from support.ports import free_port
from support.scenes import Scenes, cards

from sayso import Decision, Gate, RunRef, ToolCall
from sayso.stores.redis.connection import Client
from sayso.stores.redis.url import read_url


class Double:
    """In place of a handle: whatever it is asked, it says the same or raises it."""

    def __init__(self, said: Callable[[], object]) -> None:
        self._said = said

    @property
    def sync(self) -> Any:
        """The same for callers without an event loop."""
        said = self._said

        class Sync:
            def __getattr__(self, name: str) -> Any:
                return lambda *_, **__: said()

        return Sync()

    def for_session(self, *_: Any, **__: Any) -> Double:
        """As a gate does."""
        return self

    @property
    def run(self) -> RunRef:
        """As a gate has."""
        return RunRef("agent", "s-1", run_id="r-1")

    def __getattr__(self, name: str) -> Any:
        async def say(*_: Any, **__: Any) -> object:
            return self._said()

        return say


def raising() -> object:
    raise RuntimeError("a mistake of ours")


class MuteError(Exception):
    """An error whose text cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising_mute() -> object:
    raise MuteError


async def denying(call: ToolCall, context: object) -> Decision:
    """A policy that denies every call, with a reason."""
    return Decision.DENY.because("never on a Friday")


UNREADABLE: dict[str, tuple[object, str]] = {
    "an object": (object(), "is of type object"),
    "a truth value": (True, "is of type bool"),
    "an empty text": ("", "is empty"),
    "a long text": ("s" * 513, "has 513 characters"),
    "half of a surrogate pair": ("s-\ud800", "is not valid UTF-8"),
}
"""Ids of conversations that nobody can be asked for, and what the model is told of each."""


async def allowing(call: ToolCall, context: object) -> Decision:
    """A policy that allows every call."""
    return Decision.ALLOW


class FailClosedContract(Scenes):
    """A no of the policy, a failure, an answer that is none: nothing runs."""

    async def test_the_number_of_a_conversation_is_its_name(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        if "a number" in self.door.cannot_name:
            pytest.skip("the framework takes no number for the id of a conversation")
        work = Work([[deploy()]], session=cast("str", 42))
        running = scene.ask(self.door.run(sayso, work))
        await slack.card()
        (record,) = await scene.backend.store.list_requests()

        await slack.press("Allow")

        assert await running == ["deploy is done: production, 42"]
        assert record.request.run.session_id == "42"

    @pytest.mark.parametrize("what", UNREADABLE)
    async def test_a_conversation_that_cannot_be_read_is_a_denial_that_names_the_cause(
        self, what: str
    ) -> None:
        if what in self.door.cannot_name:
            pytest.skip(f"the framework takes no {what} for the id of a conversation")
        session, cause = UNREADABLE[what]
        work = Work([[deploy()]], session=cast("str", session))
        with agents_handle("memory://", policy=allowing) as sayso:
            (told,) = await self.door.run(sayso, work)

        assert work.ran == []
        assert "deploy" in told
        assert f"the session (conversation id) {cause}" in told

    async def test_what_the_policy_denies_does_not_run_and_nobody_is_asked(
        self, scene: Asked, store_url: str
    ) -> None:
        work = Work([[deploy()]])
        with agents_handle(store_url, policy=denying) as sayso:
            (told,) = await self.door.run(sayso, work)

        assert work.ran == []
        assert "never on a Friday" in told
        assert cards(scene) == 0

    @pytest.mark.parametrize("kind", [KeyError, SystemExit, KeyboardInterrupt, GeneratorExit])
    async def test_whatever_a_policy_raises_runs_nothing_and_ends_nobody(
        self, kind: type[BaseException]
    ) -> None:
        async def policy(call: ToolCall, context: object) -> Decision:
            raise kind

        work = Work([[deploy()]])
        with agents_handle("memory://", policy=policy) as sayso:
            (told,) = await self.door.run(sayso, work)

        assert work.ran == []
        assert "deploy" in told

    async def test_nothing_runs_once_the_handle_is_closed(self) -> None:
        work = Work([[deploy()]])
        with agents_handle("memory://") as sayso:
            pass

        (told,) = await self.door.run(sayso, work)

        assert work.ran == []
        assert "deploy" in told

    async def test_nothing_runs_while_the_store_is_away(self) -> None:
        work = Work([[deploy()]])
        with agents_handle(f"redis://127.0.0.1:{free_port()}", patience=0.3, timeout=5) as sayso:
            (told,) = await self.door.run(sayso, work)

        assert work.ran == []
        assert "deploy" in told
        assert "Redis" in told

    async def test_nothing_runs_where_our_own_code_raises(self) -> None:
        work = Work([[deploy()]])

        (told,) = await self.door.run(cast("Gate", Double(raising)), work)

        assert work.ran == []
        assert "a mistake of ours" in told

    async def test_nothing_runs_where_an_error_has_no_text(self) -> None:
        work = Work([[deploy()]])

        (told,) = await self.door.run(cast("Gate", Double(raising_mute)), work)

        assert work.ran == []
        assert "asking failed with MuteError" in told

    async def test_nothing_runs_on_a_record_that_cannot_be_read(
        self, scene: Asked, slack: SlackHands, store_url: str
    ) -> None:
        work = Work([[deploy()]])
        with agents_handle(store_url, timeout=1, patience=1) as sayso:
            running = scene.ask(self.door.run(sayso, work))
            await slack.card()
            (record,) = await scene.backend.store.list_requests()
            await spoil(store_url, record.request.question_id)
            (told,) = await running

        assert work.ran == []
        assert "deploy" in told

    @pytest.mark.parametrize("said", [None, "approved"])
    async def test_nothing_runs_on_an_answer_that_is_no_verdict(self, said: object) -> None:
        work = Work([[deploy()]])

        (told,) = await self.door.run(cast("Gate", Double(lambda: said)), work)

        assert work.ran == []
        assert "not a verdict" in told


async def spoil(store_url: str, question_id: str) -> None:
    """Write an answer of an unknown kind into the record of a question, past everything of ours."""
    client = Client(read_url(store_url))
    try:
        ending = json.dumps({"type": "NEWER_THAN_THIS", "approved": True})
        await client.command("HSET", client.keys.record(question_id), "e", ending)
    finally:
        await client.aclose()
