"""A wire to a server that tests can spoil: it loses replies, holds back, delivers in bursts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sayso.stores.redis.url import read_url

PUBLISHED = b"*3\r\n$7\r\nmessage\r\n"


class Wire:
    """A wire to the server that can lose the reply to one command, connection and all.

    While ``lets_large_through`` is not set, it holds back replies of some size.
    What comes from the server is delivered in bursts of ``burst`` seconds. While
    ``swallows`` is true, nothing that was published arrives, and nobody is told.
    """

    def __init__(self, host: str, port: int, *, burst: float = 0.0) -> None:
        self._target = host, port
        self._burst = burst
        self._lose: bytes | None = None
        self._server: asyncio.Server | None = None
        self.lost = 0
        self.swallows = False
        self.holds = asyncio.Event()
        self.lets_large_through = asyncio.Event()
        self.lets_large_through.set()

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def lose_reply(self, to: str = "") -> None:
        """Lose the reply to the next command that holds this text, once the server has sent it."""
        self._lose = to.encode()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server, from_server = None, None
        try:
            from_server, to_server = await asyncio.open_connection(*self._target)
            doomed = asyncio.Event()
            there = asyncio.create_task(self._carry_commands(reader, to_server, doomed))
            back = asyncio.create_task(self._carry_replies(from_server, writer, doomed))
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            writer.close()
            if to_server is not None:
                to_server.close()

    async def _carry_commands(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if self._lose is not None and self._lose in data:
                    self._lose = None
                    doomed.set()
                sink.write(data)
                await sink.drain()

    async def _carry_replies(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if doomed.is_set():
                    self.lost += 1
                    return
                if self.swallows and data.startswith(PUBLISHED):
                    continue
                if len(data) > 10_000 and not self.lets_large_through.is_set():
                    self.holds.set()
                    await self.lets_large_through.wait()
                if self._burst:
                    await asyncio.sleep(self._burst)
                    with contextlib.suppress(TimeoutError):
                        # What came meanwhile is delivered in one piece with it.
                        async with asyncio.timeout(0.001):
                            data += await source.read(65536)
                sink.write(data)
                await sink.drain()


@asynccontextmanager
async def wired(store_url: str, *, burst: float = 0.0) -> AsyncIterator[tuple[Wire, str]]:
    """A wire to the server of a store's URL, and the URL that leads through it."""
    host, port = read_url(store_url).hosts[0]
    wire = Wire(host, port, burst=burst)
    through = store_url.replace(f"{host}:{port}", f"127.0.0.1:{await wire.open()}")
    try:
        yield wire, through
    finally:
        await wire.close()
