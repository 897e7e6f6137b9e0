"""A platform's bot as the bots open it, its routes behind a real web server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from sayso.chats.adapter import Adapter, PressTaker
from sayso.clock import utc_now
from sayso.platforms import Platform, PlatformSettings
from sayso.stores.memory.key_value import MemoryKeyValue


@asynccontextmanager
async def served_bot(
    platform: Platform[Any],
    section: Mapping[str, Any],
    secrets: Mapping[str, str],
    desk: PressTaker,
) -> AsyncIterator[tuple[Adapter, str]]:
    """The adapter, and the address of the server that its presses are delivered to."""
    settings = PlatformSettings(
        platform.settled(platform.section.model_validate(section), secrets), secrets
    )
    leases = MemoryKeyValue(utc_now)
    async with (
        platform.open(settings, MemoryKeyValue(utc_now)) as bot,
        bot.listening(desk, leases, owner="a-desk") as listening,
    ):
        await bot.introduce()
        app = web.Application()
        app.add_routes(listening.routes)
        async with TestServer(app) as server:
            yield bot.adapter, str(server.make_url("")).rstrip("/")
