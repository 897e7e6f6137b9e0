"""No redirect is followed: whoever answers one gets neither the token nor the card."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.errors import SlackApiError
from support.clock import Clock
from support.desk_double import DeskDouble
from support.redirects import REDIRECTS, redirecting
from support.slack_kit import a_card, a_config

from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_slack import SlackAdapter, SlackListener
from sayso_slack.socket_mode import Pace, SocketConnection

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


async def test_neither_does_slacks_library_by_itself() -> None:
    async with redirecting(302) as elsewhere:
        config = a_config(api_url=f"{elsewhere.url}api/")
        async with SlackAdapter(config) as adapter:
            with pytest.raises(SlackApiError):
                await adapter.client.apps_connections_open(app_token="xapp-playground")

    assert elsewhere.asked
    assert elsewhere.arrived == []


@pytest.mark.parametrize("status", REDIRECTS)
async def test_a_socket_that_is_sent_elsewhere_does_not_go_there(
    desk: DeskDouble, clock: Clock, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with redirecting(status) as elsewhere, TestServer(opening(elsewhere.url)) as server:
        config = a_config(
            mode="socket",
            signing_secrets=(),
            app_token="xapp-playground",
            api_url=str(server.make_url("/api/")),
        )
        async with (
            SlackAdapter(config) as adapter,
            SlackListener(config, adapter, desk, clock=clock) as listener,
        ):
            pace = Pace(ping=0.01, connect=0.2, away=0.05, retry=0.01)
            socket = SocketConnection(
                config, adapter.client, adapter.socket_url, listener.answer_envelope, pace=pace
            )
            running = asyncio.create_task(socket.run())
            async with asyncio.timeout(PATIENCE_SECONDS):
                while "cannot be reached" not in caplog.text:  # it gave up on this address
                    await asyncio.sleep(0)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    assert elsewhere.asked
    assert elsewhere.arrived == []
    assert f"a socket was sent elsewhere with HTTP {status}: not followed" in caplog.text
    assert "ticket=" not in "".join(
        one.getMessage() for one in caplog.records if one.name != "aiohttp.access"
    )


def opening(url: str) -> web.Application:
    """An API that gives out this address for sockets."""

    async def opened(_: web.Request) -> web.Response:
        address = f"{url.replace('http', 'ws', 1)}link?ticket=1"
        return web.json_response({"ok": True, "url": address})

    app = web.Application()
    app.add_routes([web.post("/api/apps.connections.open", opened)])
    return app
