"""A TCP way to one of several servers that can be held or cut, as networks do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from support.wire import PUBLISHED


class Balancer:
    """Carries each connection to one of the ports, one after the other until one answers.

    Held, it carries nothing and closes nothing. Cut, it closes all connections
    and takes no other. While it swallows, nothing that a Redis server publishes
    arrives, and nobody is told.
    """

    def __init__(self, ports: Callable[[], Sequence[int]]) -> None:
        self._ports = ports
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._refuses = False
        self._swallows = False

    @property
    def port(self) -> int:
        """Where it begins."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def hold(self) -> None:
        """Carry nothing until told to go on."""
        self._goes_on.clear()

    def refuse(self) -> None:
        """Cut all connections and take no other until told to go on."""
        self._refuses = True
        self.cut()

    def cut(self) -> None:
        """Cut all connections."""
        for writer in list(self._open):
            writer.transport.abort()

    def swallow(self) -> None:
        """Lose what is published until told to go on."""
        self._swallows = True

    def go_on(self) -> None:
        """Carry again."""
        self._refuses = self._swallows = False
        self._goes_on.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.go_on()
        assert self._server is not None
        self._server.close()
        self.cut()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            if self._refuses or (there := await self._reached()) is None:
                return
            theirs, to_them = there
            self._open.add(to_them)
            try:
                await asyncio.gather(self._carry(reader, to_them), self._carry(theirs, writer))
            finally:
                self._open.discard(to_them)
                to_them.transport.abort()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _reached(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        ports = list(self._ports())
        random.shuffle(ports)
        for port in ports:
            with suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", port)
        return None

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            await self._goes_on.wait()
            if self._swallows and data.startswith(PUBLISHED):
                continue
            sink.write(data)
            await sink.drain()
        sink.close()
