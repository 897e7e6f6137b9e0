"""The whole way of a form: an agent asks, somebody fills it in in Slack, the agent has values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field
from support.slack_forms import FILL_IN, FILLED_IN, VALUES
from support.slack_room import Slack, SlackRoom

from sayso import Outcome
from sayso.agent.options import GateOptions
from sayso.calls import new_id
from sayso.cards.card import CardBody, Choice
from sayso.errors import InvalidInputError
from sayso.events import Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.stores.backend import Backend
from sayso.values import one_value
from sayso_playground import Delivery, SlackMessage, SlackView
from sayso_playground.slack.state import texts_of

READY_MADE = "Why: ready-made answers"


class OrderRequestEvent(UserInputRequest):
    """A kind of question of these tests: what should be ordered?"""

    type: Literal["SLACK_ORDER_REQUEST"] = "SLACK_ORDER_REQUEST"
    request_id: str

    @property
    def question_id(self) -> str:
        return self.request_id

    @property
    def subject(self) -> str:
        return "order"

    def card(self) -> CardBody:
        return CardBody(
            title="An order",
            values=one_value("What shall be ordered?"),
            choices=(FILL_IN, Choice("no", "Order nothing", "danger")),
        )

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> OrderResponseEvent:
        if inputs.get("name") == "Nobody":
            raise InvalidInputError({"name": "this must be somebody"})
        return OrderResponseEvent(
            request_id=self.request_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            values=dict(inputs) if choice.key == FILL_IN.key else None,
        )

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        values = ending.values if isinstance(ending, OrderResponseEvent) else None
        return tuple((name, str(value)) for name, value in (values or {}).items())


class OrderResponseEvent(UserInputResponse):
    """What was ordered."""

    type: Literal["SLACK_ORDER_RESPONSE"] = "SLACK_ORDER_RESPONSE"
    request_id: str
    values: dict[str, Any] | None = None

    @property
    def question_id(self) -> str:
        return self.request_id

    @property
    def outcome(self) -> Outcome:
        return Outcome.DENIED if self.values is None else Outcome.ANSWERED


@dataclass
class Room(SlackRoom):
    """An agent and its Slack."""

    ids: list[str] = field(default_factory=list)

    async def order(self) -> tuple[asyncio.Task[OrderResponseEvent], SlackMessage]:
        """Ask for an order; the answer to come and the card."""
        request_id = new_id()
        options = GateOptions(self.gate.run, timeout=30)
        fields = options.fields(options.asked())
        await self.gate.emit(OrderRequestEvent(request_id=request_id, **fields))
        self.ids.append(request_id)
        waiting = asyncio.create_task(self.gate.wait_for_response(OrderResponseEvent, request_id))
        return waiting, await self.playground.slack.message_where(lambda m: bool(m.buttons))

    async def form(self, card: SlackMessage, by: str = "alice") -> SlackView:
        """Press the button that opens the form."""
        delivery = await self.playground.slack.press(card, "Order", by=by)
        assert delivery.error is None
        return await self.playground.slack.view_for(by)

    async def send(self, view: SlackView, by: str = "alice", **changes: Any) -> Delivery:
        values = {**FILLED_IN, **changes}
        return await self.playground.slack.submit(view, values, by=by)

    def shown(self, by: str = "alice") -> SlackView:
        view = self.playground.slack.view(by)
        assert view
        return view


@pytest.fixture
async def room(slack: Slack, backend: Backend) -> AsyncIterator[Room]:
    async with Room.in_slack(slack, backend, ("alice", "bob")) as room:
        yield room


async def test_a_form_of_all_kinds_comes_back_as_values(room: Room) -> None:
    waiting, card = await room.order()
    view = await room.form(card)

    delivery = await room.send(view)

    assert (delivery.status, delivery.body) == (200, "")
    assert room.playground.slack.view("alice") is None
    answer = await waiting
    assert (answer.values, answer.decided_by) == (VALUES, "slack:U0ALICE")
    ended = await room.playground.slack.message_where(lambda m: "Answered by alice" in m.all_text)
    await room.playground.slack.press(ended, "Details", by="alice")
    shown = await room.playground.slack.view_for("alice")
    whole = "".join(texts_of(shown.view["blocks"]))
    for name, value in VALUES.items():
        assert f"{name} {value}" in whole


async def test_a_ready_made_answer_is_one(room: Room) -> None:
    waiting, card = await room.order()

    await room.send(await room.form(card), Why="", **{READY_MADE: "Not today"})

    assert ((await waiting).values or {})["why"] == "Not today"


async def test_signs_that_slack_escapes_come_back_as_they_were(room: Room) -> None:
    waiting, card = await room.order()

    await room.send(await room.form(card), Why="", **{READY_MADE: "R&D <said> 100%26"})

    assert ((await waiting).values or {})["why"] == "R&D <said> 100%26"


async def test_without_either_answer_the_field_says_so(room: Room) -> None:
    waiting, card = await room.order()

    await room.send(await room.form(card), Why="")

    assert room.shown().errors == {"sayso:in:why": "an answer is needed here"}
    await room.send(room.shown())
    assert (await waiting).values == VALUES


async def test_what_only_the_question_knows_is_told_at_the_field(room: Room) -> None:
    waiting, card = await room.order()

    await room.send(await room.form(card), Name="Nobody")

    assert room.shown().errors == {"sayso:in:name": "this must be somebody"}
    await room.send(room.shown())
    assert (await waiting).values == VALUES


async def test_what_slacks_client_would_have_refused_is_refused_here_too(room: Room) -> None:
    waiting, card = await room.order()
    view = await room.form(card)
    bent = {
        "Name": "x" * 21,
        "Count": "2.5",
        "Weight": "heavy",
        "Stops": ["City 1", "City 2", "City 3"],
        "Day": "tomorrow",
    }

    await room.playground.slack.submit(view, {**FILLED_IN, **bent}, by="alice", checked=False)

    assert room.shown().errors == {
        "sayso:in:name": "this must be at most 20 characters",
        "sayso:in:count": "this must be a whole number, such as 3",
        "sayso:in:weight": "this must be a number, such as 2.5",
        "sayso:in:stops": "this must be at most 2 of the options",
        "sayso:in:day": "this must be a date, such as 2026-11-21",
    }
    assert not waiting.done()
    await room.send(room.shown())
    assert (await waiting).values == VALUES


async def test_a_form_sent_after_the_end_says_who_was_first_and_keeps_what_was_typed(
    room: Room,
) -> None:
    waiting, card = await room.order()
    view = await room.form(card)
    await room.playground.slack.press(card, "Order nothing", by="bob")
    await waiting

    await room.send(view)

    over = room.shown()
    assert over.view["title"]["text"] == "Too late"
    assert "already denied by bob" in str(over.view)
    assert "because" in str(over.view)
    assert (await waiting).values is None


async def test_of_two_forms_at_once_the_first_counts(room: Room) -> None:
    waiting, card = await room.order()
    mine, yours = await room.form(card), await room.form(card, by="bob")

    await asyncio.gather(room.send(mine), room.send(yours, by="bob", Name="Eve"))

    answer = await waiting
    winner, loser = ("alice", "bob") if answer.decided_by == "slack:U0ALICE" else ("bob", "alice")
    assert room.playground.slack.view(winner) is None
    assert f"already answered by {winner}" in str(room.shown(loser).view)


async def test_a_stranger_gets_no_form_and_cannot_send_anothers(room: Room) -> None:
    waiting, card = await room.order()
    view = await room.form(card)

    await room.playground.slack.press(card, "Order", by="mallory")
    told = await room.playground.slack.ephemeral_where("mallory")
    assert "may not decide" in told.text
    assert room.playground.slack.view("mallory") is None
    room.playground.slack.state.open_view("U0MALLORY", view.view)
    await room.send(room.shown("mallory"), by="mallory")

    assert room.shown("mallory").view["title"]["text"] == "Not taken"
    assert "may not decide" in str(room.shown("mallory").view)
    assert not waiting.done()
    await room.send(view)
    assert (await waiting).decided_by == "slack:U0ALICE"


async def test_a_form_with_a_handle_that_nobody_gave_out_is_not_taken(room: Room) -> None:
    waiting, card = await room.order()
    view = await room.form(card)

    def guess(payload: dict[str, Any]) -> None:
        data = payload["view"]["private_metadata"]
        payload["view"]["private_metadata"] = data.replace('"handle": "', '"handle": "x')

    await room.playground.slack.submit(view, FILLED_IN, by="alice", alter=guess)

    assert "no longer known" in str(room.shown().view)
    assert not waiting.done()
    waiting.cancel()


async def test_a_form_of_another_message_is_not_taken(room: Room) -> None:
    waiting, card = await room.order()
    view = await room.form(card)

    def move(payload: dict[str, Any]) -> None:
        data = payload["view"]["private_metadata"]
        payload["view"]["private_metadata"] = data.replace(card.ts, "1.1")

    await room.playground.slack.submit(view, FILLED_IN, by="alice", alter=move)

    assert "does not belong" in str(room.shown().view)
    assert not waiting.done()
    waiting.cancel()


async def test_cancelling_a_form_decides_nothing_and_it_can_be_opened_again(room: Room) -> None:
    waiting, card = await room.order()

    await room.playground.slack.close_view(await room.form(card), by="alice")
    assert not waiting.done()
    await room.send(await room.form(card))

    assert (await waiting).values == VALUES


class Server(BaseModel):
    """Where it runs."""

    host: str = Field(min_length=3)
    port: int = Field(ge=1, le=65_535)


class Deployment(BaseModel):
    """What is deployed."""

    stage: Literal["test", "live"]
    server: Server
    notify: bool = False


async def test_a_pydantic_model_is_filled_in_in_slack(room: Room) -> None:
    waiting = asyncio.create_task(room.gate.collect(Deployment, text="Where to?"))
    card = await room.playground.slack.message_where(lambda m: "Fill in…" in m.buttons)
    await room.playground.slack.press(card, "Fill in…", by="alice")
    view = await room.playground.slack.view_for("alice")
    labels = [b["label"]["text"] for b in view.view["blocks"] if b["type"] == "input"]
    stage, server, *_ = labels
    wrong, right = '{"host": "db", "port": 5432}', '{"host": "db-1", "port": 5432}'

    await room.playground.slack.submit(view, {stage: "live", server: wrong}, by="alice")
    shown = room.playground.slack.view("alice")
    assert shown
    problem = "this does not fit: /host: this is shorter than 3 characters"
    assert shown.errors == {"sayso:in:server": problem}
    await room.playground.slack.submit(shown, {stage: "live", server: right}, by="alice")

    found = await waiting
    assert found.data == Deployment(stage="live", server=Server(host="db-1", port=5432))
    await room.playground.slack.message_where(lambda m: "5432" in m.all_text)
