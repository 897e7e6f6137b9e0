from collections.abc import AsyncIterator

import pytest
from playground.listener import Listener, some_blocks
from slack_sdk.web.async_client import AsyncWebClient
from support.clock import Clock
from telegram import Bot

from sayso_playground import Playground, PlaygroundConfig


@pytest.fixture
def clock() -> Clock:
    return Clock(1_800_000_000.0)


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with Listener() as listener:
        yield listener


@pytest.fixture
async def playground(clock: Clock, listener: Listener) -> AsyncIterator[Playground]:
    config = PlaygroundConfig(clock=clock.seconds, sleep=clock.sleep, slack_events_url=listener.url)
    async with Playground(config) as playground:
        yield playground


@pytest.fixture
async def impatient(listener: Listener) -> AsyncIterator[Playground]:
    """A Slack that waits for an answer for a moment only, with one card posted."""
    config = PlaygroundConfig(slack_events_url=listener.url, slack_ack_seconds=0.05)
    async with Playground(config) as playground:
        client = AsyncWebClient("xoxb-playground", base_url=playground.slack_api_url)
        await client.chat_postMessage(channel="C0OPS", text="May I?", blocks=some_blocks())
        yield playground


@pytest.fixture
def slack(playground: Playground) -> AsyncWebClient:
    return AsyncWebClient("xoxb-playground", base_url=playground.slack_api_url)


@pytest.fixture
async def telegram(playground: Playground) -> AsyncIterator[Bot]:
    async with Bot(
        "4000000000:PLAYGROUND-token", base_url=f"{playground.telegram_api_url}/bot"
    ) as bot:
        yield bot
