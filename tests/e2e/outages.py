"""A store that can be taken away from the bots and given back, with everything in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from e2e.asked import Asked, asked
from support.valkey_server import Valkey

from sayso.errors import StoreUnreachableError
from sayso.stores.backend import Backend


class Outage:
    """Whether the store can be reached: a server that is killed, or a memory that is cut off."""

    def __init__(self, server: Valkey | None = None) -> None:
        self.is_over = asyncio.Event()
        self.is_over.set()
        self._server = server

    def begin(self) -> None:
        """From now on nothing of the bots reaches the store."""
        self.is_over.clear()
        if self._server is not None:
            self._server.kill()

    def end(self) -> None:
        """The store is back, with what was in it."""
        if self._server is not None:
            self._server.start()
        self.is_over.set()

    async def pause(self, seconds: float) -> None:
        """Wait for the end of the outage, however long somebody wants to wait."""
        await self.is_over.wait()

    def cut_off(self, backend: Backend) -> Backend:
        """The same backend, of which nothing is reached while the outage lasts."""
        if self._server is not None:
            return backend
        parts: dict[str, Any] = {
            name: _Part(getattr(backend, name), self) for name in ("store", "copies", "key_value")
        }
        return replace(backend, **parts)


class _Part:
    """One port of a store in memory, as far away as a server that is down."""

    def __init__(self, port: Any, outage: Outage) -> None:
        self._port = port
        self._outage = outage

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._port, name)

        async def reached(*args: Any, **named: Any) -> Any:
            if not self._outage.is_over.is_set():
                raise StoreUnreachableError("the store cannot be reached")
            return await verb(*args, **named)

        return reached


@dataclass
class Breakable:
    """What is asked, and the outage that can come over it."""

    scene: Asked
    outage: Outage


@asynccontextmanager
async def breakable(store: str) -> AsyncIterator[Breakable]:
    """A stage on ``memory``, or on ``redis`` with a server of its own that keeps every write."""
    if store == "memory":
        outage = Outage()
        async with asked("memory://", bots=outage.cut_off, pause=outage.pause) as scene:
            yield Breakable(scene, outage)
        return
    server = Valkey(appendonly="yes", appendfsync="always")
    server.start()
    try:
        outage = Outage(server)
        async with asked(server.url, pause=outage.pause) as scene:
            yield Breakable(scene, outage)
    finally:
        server.close()
