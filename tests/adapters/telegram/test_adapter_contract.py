"""Telegram's adapter keeps what every adapter promises, against the playground."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from support.served_bot import served_bot

from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef, Place
from sayso.platforms import Platform
from sayso.testing import AdapterContract, AdapterStage, PlatformContract, PressRecorder, Shown
from sayso_playground import (
    DeliverTwice,
    Playground,
    PlaygroundConfig,
    ServerError,
    TelegramMessage,
)
from sayso_telegram.platform import PLATFORM

GROUP, BASIC_GROUP, SECRET = -1001234567890, -300, "a-secret-of-this-test"


class TelegramStage(AdapterStage):
    """Alice in Telegram."""

    def __init__(
        self, playground: Playground, adapter: Adapter, desk: PressRecorder, url: str
    ) -> None:
        self.telegram = playground.telegram
        self.adapter = adapter
        self.desk = desk
        self.place = Place("telegram", str(GROUP))
        self.nowhere = Place("telegram", "-1009")
        self.actor = "telegram:4242"
        self._url = f"{url}/telegram/webhook"

    async def shown(self, ref: MessageRef) -> Shown:
        message = self._message(ref)
        return Shown(message.text, list(message.buttons))

    async def press(self, ref: MessageRef, label: str) -> str:
        return (await self.telegram.press(self._message(ref), label, by="alice")).toast or ""

    async def revealed(self) -> str:
        message = await self.telegram.message_where(lambda message: message.document is not None)
        return message.document.content.decode() if message.document else ""

    async def fill(self, answers: Mapping[str, str]) -> None:
        for label, text in answers.items():
            self.telegram.reply(await self._prompt(label), text, by="alice")
        await self.telegram.until(lambda: len(self.desk.presses) == 2)

    async def forge(self, ref: MessageRef, label: str) -> None:
        self.telegram.deliver_to(self._url, secret_token="not-the-secret")
        await self.telegram.press(self._message(ref), label, by="alice", timeout=0.5)
        self.telegram.deliver_to(self._url, secret_token=SECRET)

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.telegram.misbehave("*", ServerError(), None)
        yield
        self.telegram.behave()

    @contextmanager
    def repeating(self) -> Iterator[None]:
        self.telegram.misbehave("callback", DeliverTwice(), None)
        yield
        self.telegram.behave()

    async def move(self) -> tuple[Place, Place]:
        new = self.telegram.migrate_group(BASIC_GROUP)
        return Place("telegram", str(BASIC_GROUP)), Place("telegram", str(new))

    async def _prompt(self, label: str) -> TelegramMessage:
        return await self.telegram.message_where(
            lambda message: "reply to this message" in message.text and label in message.text
        )

    def _message(self, ref: MessageRef) -> TelegramMessage:
        found = self.telegram.messages(int(ref.place.address))
        return next(message for message in found if str(message.id) == ref.message_id)


class TestTelegramAdapter(AdapterContract):
    @pytest.fixture
    async def stage(self) -> AsyncIterator[TelegramStage]:
        desk = PressRecorder()
        async with Playground(PlaygroundConfig()) as playground:
            secrets = {
                "TELEGRAM_BOT_TOKEN": playground.config.telegram_bot_token,
                "TELEGRAM_WEBHOOK_SECRET": SECRET,
            }
            section = {"api_url": playground.telegram_api_url}
            async with served_bot(PLATFORM, section, secrets, desk) as (adapter, url):
                stage = TelegramStage(playground, adapter, desk, url)
                playground.telegram.deliver_to(f"{url}/telegram/webhook", secret_token=SECRET)
                yield stage


class TestTelegramPlatform(PlatformContract):
    @pytest.fixture
    def platform(self) -> Platform[Any]:
        return PLATFORM
