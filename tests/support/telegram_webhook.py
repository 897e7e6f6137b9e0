"""Telegram's webhook over real HTTP: what the tests of the listener share."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any, Literal

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from support.desk_double import DeskDouble

from sayso.clock import utc_now
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_playground import Playground, PlaygroundConfig, TelegramMessage
from sayso_telegram import TelegramAdapter, TelegramConfig, TelegramListener

TOKEN = "4000000000:PLAYGROUND-token"
SECRET = "s3cret-of-this-test"
CHAT = -1001234567890
HEADER = "X-Telegram-Bot-Api-Secret-Token"


class World:
    """A listener behind a real server, the desk behind it, and Telegram's double."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.desk = DeskDouble()

    async def open(
        self,
        stack: AsyncExitStack,
        secrets: tuple[str, ...],
        desk_seconds: float = 10,
        api_url: str = "",
    ) -> None:
        config = PlaygroundConfig(telegram_bot_token=TOKEN, sleep=self._sleep)
        self.playground = await stack.enter_async_context(Playground(config))
        self.telegram = self.playground.telegram
        mode: Literal["webhook", "polling"] = "webhook" if secrets else "polling"
        bot = TelegramConfig(TOKEN, secrets, api_url or self.playground.telegram_api_url, mode)
        adapter = await stack.enter_async_context(TelegramAdapter(bot, MemoryKeyValue(utc_now)))
        leases = MemoryKeyValue(lambda: datetime.now(UTC))
        self.listener = await stack.enter_async_context(
            TelegramListener(bot, adapter, self.desk, leases, owner="a", desk_seconds=desk_seconds)
        )
        app = web.Application()
        app.add_routes(self.listener.routes())
        server = TestServer(app)
        await server.start_server()
        stack.push_async_callback(server.close)
        self.url = str(server.make_url("/telegram/webhook"))
        self.http = await stack.enter_async_context(aiohttp.ClientSession())

    async def post(
        self, body: Any, secret: str | None = SECRET, **headers: str
    ) -> aiohttp.ClientResponse:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} | headers
        if secret is not None:
            sent[HEADER] = secret
        async with self.http.post(self.url, data=data, headers=sent) as answer:
            await answer.read()
            return answer

    def card(self) -> TelegramMessage:
        return self.telegram.say(CHAT, "a card", by="alice")

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
