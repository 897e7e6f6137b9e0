"""No redirect is followed: whoever answers one gets neither the token nor the card."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from support.redirects import REDIRECTS, redirecting
from support.slack_kit import a_card, a_config

from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso_slack import SlackAdapter

OPS = Place("slack", "C0OPS")

CALLS: dict[str, Callable[[SlackAdapter], Awaitable[object]]] = {
    "a card": lambda adapter: adapter.show([a_card()], OPS),
    "who the token is": lambda adapter: adapter.identity(),
    "a group": lambda adapter: adapter.members("oncall"),
    "a socket": lambda adapter: adapter.socket_url(),
}


@pytest.mark.parametrize("status", REDIRECTS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_slack_follows_no_redirects(
    call: Callable[[SlackAdapter], Awaitable[object]], status: int
) -> None:
    async with redirecting(status) as elsewhere:
        config = a_config(api_url=f"{elsewhere.url}api/", app_token="xapp-playground")
        async with SlackAdapter(config) as adapter:
            with pytest.raises(DeliveryError, match=f"HTTP {status}.*not followed") as caught:
                await call(adapter)

    assert "slack.api_url" in str(caught.value)
    assert elsewhere.asked
    assert elsewhere.arrived == []


async def test_neither_does_it_over_a_session_that_was_handed_in() -> None:
    async with redirecting(302) as elsewhere, aiohttp.ClientSession() as session:
        config = a_config(api_url=f"{elsewhere.url}api/")
        async with SlackAdapter(config, session=session) as adapter:
            with pytest.raises(DeliveryError, match="not followed"):
                await adapter.show([a_card()], OPS)

    assert elsewhere.arrived == []
