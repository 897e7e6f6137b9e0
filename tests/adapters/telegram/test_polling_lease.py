"""Polling stops when its lease goes to another process, or nobody can say whose it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.clock import Clock

from sayso.errors import StoreUnreachableError
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.testing import until
from sayso_telegram.listener import Poller


class Waiting:
    """A bot whose updates never come: how often it was asked, and how many calls wait now."""

    def __init__(self) -> None:
        self.calls = self.now = 0

    async def updates(self, offset: int, seconds: int) -> list[Any]:
        del offset, seconds
        self.calls += 1
        self.now += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.now -= 1
        return []


class Lost(MemoryKeyValue):
    """A lease that goes to another owner, or a store that goes away, when the test says so."""

    answer: bool | Exception = True

    async def acquire_lease(self, name: str, owner: str, *, seconds: float) -> bool:
        del name, owner, seconds
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@asynccontextmanager
async def polling(bot: Any, leases: Lost) -> AsyncIterator[None]:
    nothing: Any = None
    poller = Poller(
        bot,
        nothing,
        leases,
        lease="telegram:1",
        owner="me",
        tell=nothing,
        pause=lambda _: asyncio.sleep(0.001),
        renew_after=0.001,
    )
    task = asyncio.create_task(poller.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("answer", [False, StoreUnreachableError("away")], ids=["taken", "away"])
async def test_polling_stops_when_its_lease_goes(answer: bool | Exception) -> None:
    bot, leases = Waiting(), Lost(Clock())

    async def polls() -> bool:
        return bot.now == 1

    async def has_stopped() -> bool:
        return bot.now == 0

    async with polling(bot, leases):
        await until(polls)
        leases.answer = answer
        await until(has_stopped)
        calls = bot.calls
        for _ in range(20):
            await asyncio.sleep(0.001)  # it asks for its lease again and again meanwhile
        assert bot.calls == calls

        leases.answer = True
        await until(polls)
