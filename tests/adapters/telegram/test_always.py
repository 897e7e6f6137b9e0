"""Always in Telegram: the narrow rule in two steps, the wider ones behind More."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from support.room import RUN, Room
from support.telegram_bots import TOKEN, bots

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.always.terms import GrantOptions
from sayso.chats.places import Place
from sayso.digests import short_digest
from sayso.rules.rule import Rule, Scope
from sayso.stores.memory import memory_backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import WorkerOptions
from sayso_playground import Playground, PlaygroundConfig, TelegramMessage

GROUP = -1001234567890
SCOPES: frozenset[Scope] = frozenset({"session", "project", "agent", "tool-window"})
SHOP = RunRef("deploy-bot", "s-1", project="/src/shop")
LATER = RunRef("deploy-bot", "s-2", project="/src/shop")
STATUS = ToolCall("bash", {"command": "git status"})
RESET = ToolCall("bash", {"command": "git reset"})
FIRST = ["Allow", "Always", "Deny", "More…"]
MORE = [
    "Deny with a reason…",
    "Ask for changes…",
    "Edit arguments…",
    "Always: git *",
    "Whole tool for 15 minutes",
    "Always, in all sessions",
    "Always deny",
    "Back",
]


@dataclass
class Asked(Room):
    """A card in Telegram that offers the call, its program and its tool."""

    playground: Playground

    async def show(self) -> None:
        wider = (Rule("bash", {"command": "git *"}), Rule("bash"))
        self.request = await self.offer(STATUS, *wider)
        self.card = await self.playground.telegram.message_where(lambda m: bool(m.buttons))

    async def shown(self, words: str) -> TelegramMessage:
        return await self.playground.telegram.message_where(lambda m: words in m.text)

    async def with_buttons(self, buttons: list[str]) -> TelegramMessage:
        return await self.playground.telegram.message_where(lambda m: list(m.buttons) == buttons)

    async def press(self, card: TelegramMessage, button: str) -> None:
        await self.playground.telegram.press(card, button, by="alice")

    async def choose(self, button: str) -> TelegramMessage:
        """Press a button behind More; the card at its second step."""
        await self.press(self.card, "More…")
        await self.press(await self.with_buttons(MORE), button)
        return await self.shown("Really?")


@pytest.fixture
async def room() -> AsyncIterator[Asked]:
    routes = Routes([Route((Place("telegram", str(GROUP)),), approvers=("telegram:4242",))])
    options = WorkerOptions(terms=GrantOptions(scopes=SCOPES))
    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground,
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=30) as gate,
        bots(playground, backend, routes, options=options) as process,
    ):
        room = Asked(backend, gate, process.desk, playground)
        await room.show()
        yield room


async def test_always_stores_the_literal_call_after_its_second_step(room: Asked) -> None:
    await room.press(room.card, "Always")
    sure = await room.shown("Really?")
    digest = short_digest(room.request.arguments_digest)
    assert (
        f'bash with exactly these arguments: command is "git status" (digest {digest}) '
        "in session s-1, for 1 day" in sure.text
    )
    await room.press(sure, "Yes, Always")

    ended = await room.shown("✅ Approved")
    assert ", until 20" in ended.text
    assert await room.unanswered(STATUS) is Outcome.APPROVED
    assert await room.unanswered(RESET) is Outcome.EXPIRED


async def test_a_wider_always_is_named_in_the_second_step_before_it_is_stored(
    room: Asked,
) -> None:
    sure = await room.choose("Always: git *")

    assert 'bash with command matching "git *" and any other arguments in session s-1' in sure.text
    assert "also allows another one after it" in sure.text
    assert await room.backend.rules.all() == []
    await room.press(sure, "Yes, Always: git *")
    await room.shown("✅ Approved")
    assert await room.unanswered(RESET) is Outcome.APPROVED
    assert await room.unanswered(ToolCall("bash", {"command": "ls"})) is Outcome.EXPIRED


async def test_how_long_is_asked_on_the_card_where_the_agent_names_a_project(room: Asked) -> None:
    await room.offer(STATUS, run=SHOP)
    card = await room.shown("/src/shop")

    await room.press(card, "Always")
    sure = await room.shown("Really?")

    assert "that name their project /src/shop, for 1 day or 30 days" in sure.text
    lengths = ("This session, 1 day", "This project, 1 day", "This project, 30 days")
    assert tuple(sure.buttons) == (*lengths, "Back")
    await room.press(sure, "This project, 30 days")
    ended = await room.shown("✅ Approved")
    assert "that name their project /src/shop, until 20" in ended.text
    assert await room.unanswered(STATUS, LATER) is Outcome.APPROVED

    await room.press(ended, "Revoke")
    await room.shown("revoked by telegram:4242")
    assert await room.unanswered(STATUS, LATER) is Outcome.EXPIRED


async def test_always_deny_is_one_level_down(room: Asked) -> None:
    sure = await room.choose("Always deny")
    await room.press(sure, "Yes, Always deny")

    ended = await room.shown("⛔ Denied")
    assert "never bash with exactly these arguments" in ended.text
    assert await room.unanswered(STATUS) is Outcome.DENIED


async def test_a_window_says_for_how_many_minutes(room: Asked) -> None:
    sure = await room.choose("Whole tool for 15 minutes")

    assert "bash with any arguments in session s-1, for 15 minutes" in sure.text


async def test_back_returns_from_the_menu_and_from_the_second_step(room: Asked) -> None:
    await room.press(room.card, "More…")
    await room.press(await room.with_buttons(MORE), "Back")
    first = await room.with_buttons(FIRST)
    await room.press(first, "More…")
    await room.press(await room.with_buttons(MORE), "Always deny")
    await room.press(await room.shown("Really?"), "Back")

    await room.with_buttons(FIRST)
    assert await room.backend.rules.all() == []


async def test_the_wrong_person_neither_opens_the_menu_nor_stores_anything(
    room: Asked,
) -> None:
    telegram = room.playground.telegram
    more = room.card.buttons["More…"]
    prefix = more.removesuffix("more")

    for data in (more, *(prefix + key for key in ("!always-2", "!window", "!deny-always"))):
        delivery = await telegram.press_data(room.card, data, by="mallory")
        assert delivery.alert
        assert "may not decide" in (delivery.toast or "")

    assert list(telegram.messages()[-1].buttons) == FIRST
    assert await room.backend.rules.all() == []


async def test_the_menu_of_one_card_does_nothing_under_another_message(room: Asked) -> None:
    other = room.playground.telegram.say(GROUP, "look here", by="mallory")

    delivery = await room.playground.telegram.press_data(
        other, room.card.buttons["More…"], by="alice"
    )

    assert delivery.alert
    assert other.buttons == {}
