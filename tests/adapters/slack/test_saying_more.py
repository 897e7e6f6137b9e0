"""A no that says why, a no that asks for changes, and a yes to other arguments: in Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from support.slack_room import Slack, SlackRoom

from sayso import Outcome, ToolCall
from sayso.questions.refusals import Refusals
from sayso.stores.backend import Backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.worker import WorkerOptions
from sayso_playground import DropConnection, SlackView

CALL = ToolCall("bash", {"command": "terraform apply", "token": "hunter2hunter2"})
REFUSALS = Refusals(reasons=("Too risky", "R&D only"), wait=timedelta(minutes=10))


@dataclass
class Room(SlackRoom):
    """A card in Slack and the call that waits for it."""

    async def ask_with_a_card(self) -> None:
        self.waiting = self.ask(CALL)
        self.card = await self.playground.slack.message_where(lambda m: bool(m.buttons))

    async def pick(self, words: str, by: str) -> None:
        """Press a button a level down, which somebody who may has opened."""
        if words not in self.card.buttons:
            await self.playground.slack.press(self.card, "More…", by="alice")
            self.card = await self.playground.slack.message_where(lambda m: words in m.buttons)
        delivery = await self.playground.slack.press(self.card, words, by=by)
        assert delivery.error is None

    async def form(self, words: str) -> SlackView:
        """The form that an option opens."""
        await self.pick(words, by="alice")
        return await self.playground.slack.view_for("alice")

    async def send(self, view: SlackView, **values: Any) -> None:
        delivery = await self.playground.slack.submit(view, values, by="alice")
        assert delivery.status == 200

    def errors(self) -> dict[str, Any]:
        view = self.playground.slack.view("alice")
        assert view
        return view.errors


@pytest.fixture
async def room(slack: Slack, backend: Backend) -> AsyncIterator[Room]:
    options = WorkerOptions(refusals=REFUSALS)
    async with Room.in_slack(slack, backend, options=options) as room:
        await room.ask_with_a_card()
        yield room
        room.waiting.cancel()


async def test_a_reason_in_own_words_reaches_the_agent(room: Room) -> None:
    view = await room.form("Deny with a reason…")

    await room.send(view, Reason="never on a Friday & not today")

    verdict = await room.waiting
    assert (verdict.outcome, verdict.reason) == (Outcome.DENIED, "never on a Friday & not today")
    ended = await room.playground.slack.message_where(lambda m: "Denied by alice" in m.all_text)
    assert "never on a Friday" in ended.all_text


async def test_a_ready_made_reason_is_one_click(room: Room) -> None:
    view = await room.form("Deny with a reason…")

    await room.send(view, **{"Reason: ready-made answers": "R&D only"})

    assert (await room.waiting).reason == "R&D only"


async def test_a_reason_is_needed_where_it_was_asked_for(room: Room) -> None:
    await room.send(await room.form("Deny with a reason…"))

    assert list(room.errors()) == ["sayso:in:reason"]
    assert not room.waiting.done()


async def test_a_denial_whose_dialog_is_closed_waits_for_no_reason(room: Room) -> None:
    view = await room.form("Deny with a reason…")

    delivery = await room.playground.slack.close_view(view, by="alice")

    assert delivery is not None
    assert delivery.status == 200
    verdict = await asyncio.wait_for(room.waiting, PATIENCE_SECONDS)
    assert (verdict.outcome, verdict.reason) == (Outcome.DENIED, "")
    await room.playground.slack.message_where(lambda m: "Denied by alice" in m.all_text)


async def test_a_denial_whose_dialog_nobody_heard_of_counts_at_once(room: Room) -> None:
    room.playground.slack.misbehave("views.open", DropConnection(), times=None)

    await room.pick("Deny with a reason…", by="alice")

    verdict = await asyncio.wait_for(room.waiting, PATIENCE_SECONDS)
    assert (verdict.outcome, verdict.decided_by) == (Outcome.DENIED, "slack:U0ALICE")


async def test_the_card_says_that_a_reason_is_being_written(room: Room) -> None:
    await room.form("Deny with a reason…")

    await room.playground.slack.message_where(
        lambda m: "denies this; the reason is being written" in m.all_text
    )


async def test_changes_can_be_asked_for(room: Room) -> None:
    view = await room.form("Ask for changes…")

    await room.send(view, **{"What should change": "use plan first"})

    verdict = await room.waiting
    assert verdict.asks_for_changes
    assert verdict.reason == "use plan first"


async def test_arguments_are_edited_and_hidden_ones_stay_whole(room: Room) -> None:
    view = await room.form("Edit arguments…")
    element = view.view["blocks"][-1]["element"]
    assert "hunter2" not in str(view.view)

    changed = element["initial_value"].replace("apply", "plan")
    await room.send(view, Arguments=changed)

    verdict = await room.waiting
    assert verdict.approved
    assert dict(verdict.arguments) == {"command": "terraform plan", "token": "hunter2hunter2"}
    assert verdict.asked_arguments == CALL.arguments


async def test_what_is_no_json_is_told_at_the_arguments(room: Room) -> None:
    await room.send(await room.form("Edit arguments…"), Arguments="{")

    assert list(room.errors()) == ["sayso:in:arguments"]
    assert not room.waiting.done()


@pytest.mark.parametrize("words", ["Deny with a reason…", "Ask for changes…", "Edit arguments…"])
async def test_a_stranger_gets_none_of_the_forms(room: Room, words: str) -> None:
    await room.pick(words, by="mallory")

    assert "may not decide" in (await room.playground.slack.ephemeral_where("mallory")).text
    assert room.playground.slack.view("mallory") is None
    assert not room.waiting.done()
