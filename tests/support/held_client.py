"""A client of a store, and the server of which a test says what it answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from support.fake_redis import Asked, held_redis

from sayso.stores.redis.client import Client
from sayso.stores.redis.url import read_url


class Held:
    """A client, and the server of which a test says what it answers."""

    def __init__(self, client: Client, asked: asyncio.Queue[Asked]) -> None:
        self._client = client
        self._asked = asked

    def send(self, *words: str, repeatable: bool = True) -> asyncio.Task[object]:
        return asyncio.create_task(self._client.command(*words, repeatable=repeatable))

    async def read(self, *words: str) -> Asked:
        """The next command that the server has read, which is this one."""
        asked = await asyncio.wait_for(self._asked.get(), 10)
        assert asked.words == list(words)
        return asked

    async def close(self) -> None:
        await self._client.aclose()

    def connecting(self, others: set[asyncio.Task[object]]) -> list[asyncio.Task[object]]:
        """The tasks of the client itself, of those begun after these."""
        return [one for one in asyncio.all_tasks() - others if "Pipeline" in repr(one)]

    @property
    def unanswered(self) -> int:
        return self._asked.qsize()


@contextlib.asynccontextmanager
async def held_client(query: str = "", *, login: str = "") -> AsyncIterator[Held]:
    async with held_redis() as (port, asked):
        before = f":{login}@" if login else ""
        client = Client(read_url(f"redis://{before}127.0.0.1:{port}{query}"))
        try:
            yield Held(client, asked)
        finally:
            await client.aclose()
