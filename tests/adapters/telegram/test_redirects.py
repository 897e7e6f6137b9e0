"""No redirect is followed: the bot token is in the path of every call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.redirects import REDIRECTS, redirecting

from sayso.cards.card import Card
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import DeliveryError
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_telegram import TelegramAdapter, TelegramConfig


@pytest.mark.parametrize("status", REDIRECTS)
async def test_telegram_follows_no_redirects(a_card: Callable[..., Card], status: int) -> None:
    async with redirecting(status) as elsewhere:
        url = elsewhere.url.rstrip("/")
        config = TelegramConfig("4000000000:PLAYGROUND-token", ("secret",), url)
        async with TelegramAdapter(config, MemoryKeyValue(utc_now)) as adapter:
            with pytest.raises(DeliveryError, match=f"HTTP {status}.*not followed") as caught:
                await adapter.show([a_card()], Place("telegram", "-1"))

    assert "telegram.api_url" in str(caught.value)
    assert "PLAYGROUND" not in str(caught.value)
    assert elsewhere.asked
    assert elsewhere.arrived == []
