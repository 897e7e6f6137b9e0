"""Where a door is tried: an agent's handle, the bots, and a person in a chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from support.doors import Door, agents_handle

from sayso import Gate


class Scenes:
    """An agent's handle, the bots, and a person in a chat."""

    door: Door

    @pytest.fixture
    async def scene(self, store_url: str) -> AsyncIterator[Asked]:
        """The bots and the chats; calls that come together share a card."""
        async with asked(store_url, together="0.2s") as opened:
            yield opened

    @pytest.fixture
    def slack(self, scene: Asked) -> SlackHands:
        """A person in Slack."""
        return SlackHands(scene.playground)

    @pytest.fixture
    def sayso(self, store_url: str) -> Iterator[Gate]:
        """The handle of the agent's process."""
        with agents_handle(store_url) as opened:
            yield opened


def cards(scene: Asked) -> int:
    """How many cards were ever shown in Slack."""
    return len(scene.playground.slack.messages())
