"""A question with a field of every kind, the bots that show it, and a person who answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from support.room import RUN
from support.telegram_bots import Bots, bots

from sayso import Gate, Outcome
from sayso.calls import new_id
from sayso.cards.card import CardBody, Choice
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import InvalidInputError
from sayso.events import Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form import Form, FormField, Option
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.stores.backend import Backend
from sayso.values import one_value
from sayso.worker.routing import Route, Routes
from sayso_playground import Delivery, Playground, TelegramDouble, TelegramMessage

GROUP, FORUM = -1001234567890, -1002222222222
ROUTES = Routes(
    [
        Route(
            (Place("telegram", str(GROUP)), Place("telegram", str(FORUM), "17")),
            approvers=("alice", "bob"),
        )
    ],
    {"alice": frozenset({"telegram:4242"}), "bob": frozenset({"telegram:4343"})},
)
COLOURS = tuple(Option(label, label.lower()) for label in ("Red", "Green", "Blue"))
CITIES = tuple(Option(f"City {number}", number) for number in range(45))

ORDER = Form(
    "Order",
    (
        FormField("name", "Name", hint="As on the door", minimum=2, maximum=20),
        FormField("notes", "Notes", multiline=True, required=False),
        FormField("why", "Why", suggestions=("Too risky", "Not today")),
        FormField("count", "Count", "integer", minimum=1, maximum=9, initial=4),
        FormField("weight", "Weight", "number", minimum=0.5),
        FormField("express", "Express", "boolean"),
        FormField("colour", "Colour", "option", options=COLOURS),
        FormField("city", "City", "option", options=CITIES),
        FormField("extras", "Extras", "options", options=COLOURS, maximum=2),
        FormField("day", "Day", "date"),
    ),
    submit="Order it",
    note="Please look twice.",
    confirms=True,
)
REASON = Form("Deny with a reason", (FormField("reason", "Reason", minimum=3),), submit="Deny")
PLAIN = Form("Two things", (FormField("a", "First"), FormField("b", "Second")))
VALUES = {
    "name": "Bob",
    "why": "Not today",
    "count": 4,
    "weight": 2.5,
    "express": True,
    "colour": "green",
    "city": 41,
    "extras": ["red", "blue"],
    "day": "2026-11-21",
}


class TelegramOrderRequestEvent(UserInputRequest):
    """A kind of question of these tests."""

    type: Literal["TELEGRAM_ORDER_REQUEST"] = "TELEGRAM_ORDER_REQUEST"
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
            choices=(
                Choice("order", "Order…", "primary", form=ORDER),
                Choice("plain", "Two things…", form=PLAIN),
                Choice("reason", "Deny…", "danger", form=REASON),
                Choice("no", "Nothing", "danger"),
            ),
        )

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> TelegramOrderResponseEvent:
        if inputs.get("name") == "Nobody":
            raise InvalidInputError({"name": "this must be somebody"})
        if inputs.get("a") == inputs.get("b") == "same":
            raise InvalidInputError({"a": "these must differ", "b": "these must differ"})
        return TelegramOrderResponseEvent(
            request_id=self.request_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            choice=choice.key,
            values=dict(inputs),
        )

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        values = ending.values if isinstance(ending, TelegramOrderResponseEvent) else {}
        return tuple((name, str(value)) for name, value in values.items())


class TelegramOrderResponseEvent(UserInputResponse):
    """What was ordered."""

    type: Literal["TELEGRAM_ORDER_RESPONSE"] = "TELEGRAM_ORDER_RESPONSE"
    request_id: str
    choice: str
    values: dict[str, Any]

    @property
    def question_id(self) -> str:
        return self.request_id

    @property
    def outcome(self) -> Outcome:
        denied = self.choice in ("no", "reason")
        return Outcome.DENIED if denied else Outcome.ANSWERED


Waiting = asyncio.Task[TelegramOrderResponseEvent]


@dataclass
class Room:
    """An agent, its Telegram, and the person who is asked."""

    backend: Backend
    gate: Gate
    playground: Playground
    mode: str = "webhook"
    chat: int = GROUP
    asked_ids: list[str] = field(default_factory=list)

    @property
    def telegram(self) -> TelegramDouble:
        return self.playground.telegram

    @asynccontextmanager
    async def bots(self, backend: Backend | None = None) -> AsyncIterator[Bots]:
        """A process of the bots that takes updates while the block runs."""
        there = backend or self.backend
        async with bots(self.playground, there, ROUTES, mode=self.mode) as process:
            yield process

    async def ask(self, seconds: float = 30) -> tuple[Waiting, TelegramMessage]:
        """Ask for an order; the answer to come and the card."""
        request_id = new_id()
        await self.gate.emit(
            TelegramOrderRequestEvent(
                request_id=request_id,
                source_name="shop",
                run=RUN,
                expires_at=utc_now() + timedelta(seconds=seconds),
            )
        )
        self.asked_ids.append(request_id)
        waiting = asyncio.create_task(
            self.gate.wait_for_response(TelegramOrderResponseEvent, request_id)
        )
        return waiting, await self.shown("Expires")

    async def shown(self, words: str) -> TelegramMessage:
        return await self.telegram.message_where(lambda m: words in m.text and m.chat == self.chat)

    async def board(self, words: str) -> TelegramMessage:
        """The form with these words on it, and buttons."""
        return await self.telegram.message_where(
            lambda m: "📝" in m.text and words in m.text and bool(m.buttons) and m.chat == self.chat
        )

    async def question(self, label: str) -> TelegramMessage:
        """The message that opens a reply for this."""
        return await self.telegram.message_where(
            lambda m: m.forces_reply and label in m.text and m.chat == self.chat
        )

    async def answer(self, label: str, text: str, by: str = "alice") -> TelegramMessage:
        """Type an answer as a reply to the question."""
        return self.telegram.reply(await self.question(label), text, by=by)

    async def press(self, words: str, button: str, by: str = "alice") -> Delivery:
        """Press a button of the form that shows these words."""
        board = await self.telegram.message_where(
            lambda m: "📝" in m.text and words in m.text and button in m.buttons
        )
        return await self.telegram.press(board, button, by=by)

    async def told(self, words: str) -> TelegramMessage:
        """What the bot says to somebody in words."""
        return await self.telegram.message_where(
            lambda m: words in m.text and m.sender == self.telegram.state.bot_id
        )

    @property
    def open_prompts(self) -> list[TelegramMessage]:
        """The questions that still open a reply."""
        return [message for message in self.telegram.messages() if message.forces_reply]

    @property
    def boards(self) -> list[TelegramMessage]:
        """The forms that still have buttons."""
        return [m for m in self.telegram.messages() if "📝" in m.text and m.buttons]
