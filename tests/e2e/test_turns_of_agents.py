"""Agents take turns in a channel: one that floods it delays nobody else's card for long."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from support.chat_double import working
from support.playing import a_playground
from support.slack_kit import SECRET
from support.timer import StoppedTimer

from sayso import RunRef
from sayso.chats.adapter import Adapter
from sayso.chats.places import Place
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_request, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker
from sayso_playground import Playground
from sayso_slack import SlackAdapter, SlackConfig
from sayso_telegram import TelegramAdapter, TelegramConfig

_CHANNELS = {"slack": Place("slack", "C0OPS"), "telegram": Place("telegram", "-1001234567890")}


@dataclass
class Channel:
    """A channel that takes as many messages as its platform says, by a clock that is moved."""

    playground: Playground
    backend: Backend
    timer: StoppedTimer
    platform: str

    async def ask(self, agent: str, count: int) -> None:
        """Let an agent open so many requests."""
        for number in range(count):
            request = a_request(tool=f"{agent}_tool_{number}", run=RunRef(agent, "s-1"))
            await self.backend.store.open(request, seconds=86_400, inbox="", book=None)

    @property
    def cards(self) -> list[str]:
        """The text of the cards that stand there, in the order in which they came."""
        if self.platform == "slack":
            return [message.all_text for message in self.playground.slack.messages()]
        return [message.text for message in self.playground.telegram.messages()]

    async def post(self, count: int) -> list[str]:
        """Let the time of so many messages pass; the cards that came meanwhile."""
        before = len(self.cards)

        async def all_posted() -> bool:
            await self.timer.advance(0.1)
            return len(self.cards) >= before + count

        await until(all_posted)
        return self.cards[before:]


@pytest.fixture(params=["slack", "telegram"])
async def channel(request: pytest.FixtureRequest) -> AsyncIterator[Channel]:
    """A channel at one of the platforms."""
    async with a_channel(request.param) as opened:
        yield opened


@asynccontextmanager
async def a_channel(platform: str) -> AsyncIterator[Channel]:
    timer = StoppedTimer()
    async with AsyncExitStack() as stack:
        playground = await stack.enter_async_context(a_playground(clock=timer.now))
        backend = await stack.enter_async_context(
            memory_backend(clock=lambda: datetime.fromtimestamp(timer.now(), UTC))
        )
        slack = SlackConfig(
            bot_token=playground.config.slack_bot_token,
            signing_secrets=(SECRET,),
            api_url=playground.slack_api_url,
        )
        telegram = TelegramConfig(
            playground.config.telegram_bot_token, (SECRET,), playground.telegram_api_url
        )
        adapter: Adapter = await stack.enter_async_context(
            SlackAdapter(slack)
            if platform == "slack"
            else TelegramAdapter(telegram, backend.key_value)
        )
        routes = Routes([Route((_CHANNELS[platform],), approvers=("slack:U0ALICE",))])
        desk = ApprovalWorker(backend, [adapter], routes, timer=timer)
        await stack.enter_async_context(working(desk))
        yield Channel(playground, backend, timer, platform)
        await desk._background.cancel()


async def test_forty_requests_of_one_agent_delay_the_card_of_another_by_two_at_most(
    channel: Channel,
) -> None:
    await channel.ask("greedy-bot", 40)
    await channel.post(3)

    await channel.ask("deploy-bot", 1)
    cards = await channel.post(3)

    assert any("deploy-bot" in card for card in cards), cards


async def test_a_new_name_for_each_request_does_not_keep_the_card_of_another_waiting(
    channel: Channel,
) -> None:
    for number in range(10):
        await channel.ask(f"new-bot-{number}", 1)
    await channel.ask("deploy-bot", 1)
    cards = []
    for number in range(10, 40):
        await channel.ask(f"new-bot-{number}", 1)
        cards += await channel.post(1)

    (place,) = [number for number, card in enumerate(cards) if "deploy-bot" in card]
    assert place <= 12
