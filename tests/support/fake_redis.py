"""A server that speaks Redis's protocol and answers what a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count

Answer = Callable[[Sequence[str]], bytes]


@asynccontextmanager
async def fake_redis(
    answer: Answer, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """The port of a server that answers each command so; logins are all right."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                words = await _command(reader)
                said = b"+OK\r\n" if words[0] in ("AUTH", "SELECT") else answer(words)
                writer.write(said)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(connected, host, 0, ssl=tls) as server:
        yield server.sockets[0].getsockname()[1]


class Asked:
    """A command that a server has read and not answered."""

    def __init__(self, words: list[str], connection: int, writer: asyncio.StreamWriter) -> None:
        self.words = words
        self.connection = connection
        self._writer = writer

    def say(self, said: bytes) -> None:
        """Answer it, or whatever is to be answered next on its connection."""
        self._writer.write(said)

    def hang_up(self) -> None:
        """Break the connection that it came by."""
        self._writer.close()


@asynccontextmanager
async def held_redis() -> AsyncIterator[tuple[int, asyncio.Queue[Asked]]]:
    """The port of a server, and the commands that it has read, for a test to answer."""
    asked: asyncio.Queue[Asked] = asyncio.Queue()
    numbers = count(1)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(numbers)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                asked.put_nowait(Asked(await _command(reader), number, writer))
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], asked


async def _command(reader: asyncio.StreamReader) -> list[str]:
    words: list[str] = []
    for _ in range(int((await reader.readuntil(b"\r\n"))[1:])):
        length = int((await reader.readuntil(b"\r\n"))[1:])
        words.append((await reader.readexactly(length + 2))[:-2].decode())
    return words


def sentinel_that_names(port: Callable[[], int]) -> Answer:
    """What a sentinel answers that knows where the primary is now."""

    def answer(words: Sequence[str]) -> bytes:
        assert words[:2] == ["SENTINEL", "GET-MASTER-ADDR-BY-NAME"]
        there = str(port()).encode()
        return b"*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%b\r\n" % (len(there), there)

    return answer
