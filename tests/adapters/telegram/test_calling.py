"""Telegram calls people: mentions that ring, replies to cards, letters, links."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest
from support.room import RUN
from support.telegram_bots import TOKEN, bots

from sayso import Gate, ToolCall
from sayso.calling.hours import Quiet
from sayso.calling.manners import Calling
from sayso.chats.places import MessageRef, Place
from sayso.stores.memory import memory_backend
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.testing import CallerContract, CallerStage, Said
from sayso.worker.routing import Route, Routes
from sayso_playground import Playground, PlaygroundConfig, TelegramMessage
from sayso_telegram import TelegramAdapter, TelegramConfig
from sayso_telegram.notifications import TelegramNotifier

GROUP = -1001234567890
_LIVE = ("mention", "text_mention")


def _said(message: TelegramMessage) -> Said:
    found = [entity for entity in message.entities if entity["type"] in _LIVE]
    mentions = [f"telegram:{one['user']['id']}" if "user" in one else "@" for one in found]
    reply_to = str(message.reply_to or "")
    return Said(message.text, mentions, list(message.buttons), reply_to, not message.silent)


class Stage(CallerStage):
    def __init__(self, playground: Playground, adapter: TelegramAdapter) -> None:
        self.telegram = playground.telegram
        self.adapter, self.caller = adapter, TelegramNotifier(adapter)
        self.place, self.nowhere = Place("telegram", str(GROUP)), Place("telegram", "-42")
        self.actor = "telegram:4242"

    async def said(self) -> Sequence[Said]:
        return [_said(message) for message in self.telegram.messages(GROUP)]

    async def letters(self) -> Sequence[Said]:
        return [_said(message) for message in self.telegram.messages(4242)]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground:
        config = TelegramConfig(TOKEN, ("s",), playground.telegram_api_url)
        async with TelegramAdapter(config, MemoryKeyValue(lambda: datetime.now(UTC))) as adapter:
            yield Stage(playground, adapter)


class TestTelegramCaller(CallerContract):
    pass


@pytest.mark.parametrize(
    ("address", "thread", "link"),
    [
        ("-1001234567890", "", "https://t.me/c/1234567890/7"),
        ("-1001234567890", "17", "https://t.me/c/1234567890/17/7"),
        ("-300", "", ""),
        ("4242", "", ""),
    ],
)
async def test_a_link_leads_to_a_card_in_a_supergroup(
    stage: Stage, address: str, thread: str, link: str
) -> None:
    card = MessageRef(Place("telegram", address, thread), "7")

    assert await stage.caller.link(card) == link


@pytest.mark.parametrize("is_quiet", [False, True])
async def test_a_card_of_quiet_hours_makes_no_sound_and_mentions_nobody(is_quiet: bool) -> None:
    hour = datetime.now(UTC).hour
    begins = time((hour if is_quiet else hour + 3) % 24)
    quiet = Quiet(begins, time((begins.hour + 2) % 24), ZoneInfo("UTC"))
    routes = Routes(
        [
            Route(
                (Place("telegram", str(GROUP)),),
                approvers=("alice",),
                calling=Calling(quiet=quiet),
            )
        ],
        {"alice": frozenset({"telegram:4242"})},
    )
    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground,
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=30) as gate,
        bots(playground, backend, routes),
    ):
        waiting = asyncio.create_task(gate.check(ToolCall("bash", {"command": "ls"})))
        card = await playground.telegram.message_where(lambda m: "Expires" in m.text)
        await playground.telegram.press(card, "Deny", by="alice")
        await waiting

    said = _said(card)
    assert said.makes_sound is not is_quiet
    assert list(said.mentions) == ([] if is_quiet else ["telegram:4242"])
    assert ("Quiet hours until" in said.text) is is_quiet
