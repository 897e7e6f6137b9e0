"""Every question is asked on Redis, and answered at every platform; decisions on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from e2e.asked import Asked, asked
from e2e.hands import Hands, SlackHands, TelegramHands, hands_at
from e2e.outages import Breakable
from e2e.outages import breakable as on_a_breakable_store


@pytest.fixture
async def scene(store_url: str) -> AsyncIterator[Asked]:
    """Agent, bots and platforms."""
    async with asked(store_url) as opened:
        yield opened


@pytest.fixture(params=["slack", "telegram"])
def hands(request: pytest.FixtureRequest, scene: Asked) -> Hands:
    """A person at one of the platforms."""
    return hands_at(request.param, scene.playground)


@pytest.fixture
def slack(scene: Asked) -> SlackHands:
    """A person in Slack."""
    return SlackHands(scene.playground)


@pytest.fixture
def telegram(scene: Asked) -> TelegramHands:
    """A person in Telegram."""
    return TelegramHands(scene.playground)


@pytest.fixture(params=["memory", "redis"])
async def breakable(request: pytest.FixtureRequest) -> AsyncIterator[Breakable]:
    """The same on a store that can be taken away."""
    async with on_a_breakable_store(request.param) as opened:
        yield opened
