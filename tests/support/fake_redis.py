"""A server that speaks Redis's protocol and answers what a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

Answer = Callable[[Sequence[str]], bytes | None]


@asynccontextmanager
async def fake_redis(
    answer: Answer, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """The port of a server that answers each command so; logins are all right.

    Where the answer is None, it closes the connection.
    """

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                words = await _command(reader)
                said = b"+OK\r\n" if words[0] in ("AUTH", "SELECT") else answer(words)
                if said is None:
                    break
                writer.write(said)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(connected, host, 0, ssl=tls) as server:
        yield server.sockets[0].getsockname()[1]


async def _command(reader: asyncio.StreamReader) -> list[str]:
    words: list[str] = []
    for _ in range(int((await reader.readuntil(b"\r\n"))[1:])):
        length = int((await reader.readuntil(b"\r\n"))[1:])
        words.append((await reader.readexactly(length + 2))[:-2].decode())
    return words


def sentinel_that_names(port: Callable[[], int]) -> Answer:
    """What a sentinel answers that knows where the primary is now."""

    def answer(words: Sequence[str]) -> bytes:
        assert words == ["SENTINEL", "MASTERS"]
        return b"*1\r\n" + _list(*SENTINEL_STATE, "name", "main", "port", str(port()))

    return answer


def cluster_of_one(port: Callable[[], int], answer: Answer) -> Answer:
    """The answers of the one node of a cluster, which has all slots."""

    def of_node(words: Sequence[str]) -> bytes | None:
        if words[:2] == ["CLUSTER", "SLOTS"]:
            node = b"*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n" % port()
            return b"*1\r\n*3\r\n:0\r\n:16383\r\n" + node
        return b"*0\r\n" if words[0] == "COMMAND" else answer(words)

    return of_node


SENTINEL_STATE = ("ip", "127.0.0.1", "flags", "master", "num-other-sentinels", "0")


def _list(*words: str) -> bytes:
    parts = (f"${len(word)}\r\n{word}\r\n" for word in words)
    return (f"*{len(words)}\r\n" + "".join(parts)).encode()
