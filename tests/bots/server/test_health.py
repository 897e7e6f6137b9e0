"""`/readyz`: ready while the store answers, whatever the platforms do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from support.bare_platform import BareBot

from sayso.clock import utc_now
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.stores.memory import memory_backend
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_bots.server.health import Health

Client = TestClient[web.Request, web.Application]
WELL = (200, {"ready": True, "problems": {}, "degraded": []})


class SwitchedBot(BareBot):
    """A bot whose platform is away, hangs, or is there, as a test says."""

    def __init__(self, away: str = "", *, hangs: bool = False) -> None:
        super().__init__(away)
        self.away = away
        self.hangs = hangs
        self.asked = 0

    async def introduce(self) -> str:
        self.asked += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.away:
            raise DeliveryError("chat", self.away)
        return "a bot"


class SwitchedStore(MemoryKeyValue):
    """A store that answers or does not, as a test says."""

    away = ""

    async def get(self, key: str) -> str | None:
        if self.away:
            raise StoreUnreachableError(self.away)
        return await super().get(key)


class Room:
    """A server with nothing but the health checks, and what they ask."""

    def __init__(self, **chats: SwitchedBot) -> None:
        self.chats = chats
        self.store = SwitchedStore(utc_now)
        self.seconds = 1_000.0

    async def ready(self, query: str = "") -> tuple[int, Any]:
        async with self.client.get(f"/readyz{query}") as answer:
            return answer.status, await answer.json()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Room]:
        async with (
            memory_backend() as backend,
            Health(
                replace(backend, key_value=self.store), self.chats, lambda: self.seconds
            ) as health,
        ):
            app = web.Application()
            app.add_routes(health.routes())
            async with TestClient(TestServer(app)) as self.client:
                yield self


async def test_a_platform_that_is_away_is_degraded_and_the_process_stays_ready() -> None:
    async with Room(slack=SwitchedBot("HTTP 503"), telegram=SwitchedBot()).opened() as room:
        status, body = await room.ready()

    assert status == 200
    assert body == {"ready": True, "problems": {"slack": "HTTP 503"}, "degraded": ["slack"]}


async def test_strict_readiness_counts_platforms_too() -> None:
    async with Room(slack=SwitchedBot("HTTP 503"), telegram=SwitchedBot()).opened() as room:
        status, body = await room.ready("?strict=1")
        lenient, _ = await room.ready("?strict=0")

    assert (status, lenient) == (503, 200)
    assert body == {"ready": False, "problems": {"slack": "HTTP 503"}, "degraded": ["slack"]}


async def test_a_store_that_does_not_answer_is_not_ready_either_way() -> None:
    async with Room(slack=SwitchedBot()).opened() as room:
        room.store.away = "no Redis answers"
        lenient, strict = await room.ready(), await room.ready("?strict=1")

    down = {"ready": False, "problems": {"store": "no Redis answers"}, "degraded": []}
    assert lenient == strict == (503, down)


async def test_a_platform_that_hangs_does_not_hold_up_the_answer() -> None:
    bot = SwitchedBot(hangs=True)
    async with Room(slack=bot).opened() as room:
        loop = asyncio.get_running_loop()
        since = loop.time()
        status, body = await room.ready()
        took = loop.time() - since
        strict, late = await room.ready("?strict=1")

    assert (status, body["degraded"]) == (200, ["slack"])
    assert took < 2
    assert (strict, late["problems"]) == (503, {"slack": "no answer within 3 s"})
    assert bot.asked == 1  # nobody is asked twice at a time


async def test_each_part_is_asked_again_after_five_seconds_and_not_before() -> None:
    bot = SwitchedBot()
    async with Room(slack=bot).opened() as room:
        first = await room.ready()
        room.store.away, bot.away = "no Redis answers", "HTTP 503"
        room.seconds += 4.9
        second = await room.ready()
        room.seconds += 0.1
        third, _ = await room.ready()
        room.store.away, bot.away = "", ""
        room.seconds += 5
        fourth = await room.ready()

    assert first == second == WELL
    assert third == 503
    assert fourth == WELL
    assert bot.asked == 3
