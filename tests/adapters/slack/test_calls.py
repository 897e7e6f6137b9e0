"""Calls of Slack's Web API: made once, ended in time, and read whatever answers them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.errors import SlackApiError
from support.raw_server import Serve, byte_by_byte, never, server
from support.slack_kit import a_card, a_config

from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso_slack import SlackAdapter
from sayso_slack.web_client import DirectClient

OPS = Place("slack", "C0OPS")
TOKEN = "xoxb-a-token-of-a-test"
HALF = "half \ud83d of a pair"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[DirectClient]:
    async with aiohttp.ClientSession() as session:
        yield DirectClient(token=TOKEN, base_url=url, session=session)


@asynccontextmanager
async def answered(response: web.Response) -> AsyncIterator[tuple[DirectClient, list[bytes]]]:
    """A client whose one call is answered so, and the bodies that arrive."""
    arrived: list[bytes] = []

    async def answer(request: web.Request) -> web.Response:
        arrived.append(await request.read())
        return response

    app = web.Application()
    app.router.add_route("*", "/api/{method}", answer)
    async with TestServer(app) as serving, opened(str(serving.make_url("/api/"))) as client:
        yield client, arrived


@pytest.mark.parametrize("serve", [never, byte_by_byte])
async def test_every_call_ends_in_time(serve: Serve) -> None:
    async with server(serve) as url, opened(url) as client:
        with pytest.raises(TimeoutError):
            await client.call("POST", "chat.postMessage", arguments={}, seconds=0.1)


async def test_half_of_a_surrogate_pair_goes_out_and_comes_in() -> None:
    said = web.Response(text=json.dumps({"ok": True, "text": HALF}))
    async with answered(said) as (client, arrived):
        answer = await client.call("POST", "chat.postMessage", arguments={"text": HALF})

    assert answer["text"] == HALF
    assert [json.loads(body) for body in arrived] == [{"text": HALF}]


@pytest.mark.parametrize(
    "response",
    [
        web.Response(status=500, text='{"ok": true}'),
        web.Response(text='{"ok": false}'),
        web.Response(text='["ok"]'),
        web.Response(text=""),
        web.Response(body=b"\xff"),
    ],
    ids=["a-failure-that-says-ok", "no-ok", "no-object", "nothing", "no-text"],
)
async def test_only_what_slack_says_it_did_is_done(response: web.Response) -> None:
    async with answered(response) as (client, arrived):
        with pytest.raises(SlackApiError):
            await client.call("POST", "chat.postMessage", arguments={})

    assert len(arrived) == 1


async def test_no_error_holds_the_headers_of_an_answer_or_the_token() -> None:
    refused = web.Response(text='{"ok": false}', headers={"Set-Cookie": "d=a-secret-of-slack"})
    async with answered(refused) as (client, _):
        with pytest.raises(SlackApiError) as caught:
            await client.call("GET", "users.info", query={"user": "U0ALICE"})

    assert "a-secret-of-slack" not in str(caught.value)
    assert TOKEN not in str(caught.value)


async def test_a_session_that_was_closed_loses_the_connection() -> None:
    session = aiohttp.ClientSession()
    await session.close()

    async with SlackAdapter(a_config(), session=session) as adapter:
        with pytest.raises(DeliveryError, match="lost its connection") as caught:
            await adapter.show([a_card()], OPS)

    assert not caught.value.permanent
