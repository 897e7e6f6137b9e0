"""A client at our stdin and stdout: a message a line, in and out."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sayso.tasks import Background
from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import Client, ServerGoneError
from sayso_bots.mcp.calls import CLIENT_KEY, client_of
from sayso_bots.mcp.messages import MOST_BYTES, Message, NotAMessageError
from sayso_bots.mcp.proxy import Proxy, Server

_INITIALIZE = "initialize"


class Lines:
    """Our stdin and stdout, or what stands for them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes | None:
        """The next line, None at the end.

        Raises:
            NotAMessageError: it is too long for anybody to read; what follows is not known.
        """
        try:
            line = await self._reader.readline()
        except ValueError:
            raise NotAMessageError("a message is too long") from None
        return line or None

    async def write(self, line: bytes) -> None:
        """Write a line; whoever is gone reads nothing."""
        self._writer.write(line + b"\n")
        await self._writer.drain()


@asynccontextmanager
async def our_lines() -> AsyncIterator[Lines]:
    """The stdin and stdout of this process; what else is printed goes to stderr."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MOST_BYTES)
    out = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    read, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer
    )
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        yield Lines(reader, writer)
    finally:
        read.close()
        transport.close()


class Conversation:
    """What passes between one client and a server, through a proxy."""

    def __init__(self, lines: Lines, proxy: Proxy, server: Server) -> None:
        self._lines = lines
        self._proxy = proxy
        self._server = server
        self._client = Client()
        self._background = Background("answers to an MCP client", expected=(ConnectionError,))

    async def run(self) -> None:
        """Take messages until there are no more; then withdraw what is still asked.

        Raises:
            NotAMessageError: a line is too long to be read.
        """
        try:
            while (line := await self._lines.read()) is not None:
                if line.strip():
                    await self._take(line)
                    # What was begun comes before what is read next, such as its withdrawal.
                    await asyncio.sleep(0)
        finally:
            self._proxy.withdraw(self._client.connection)
            await self._background.finish()

    async def _take(self, line: bytes) -> None:
        try:
            message = messages.read(line)
        except NotAMessageError as error:
            await self._lines.write(messages.failure(error.id, error.code, on_one_line(str(error))))
            return
        if message.kind == "request":
            self._background.start(self._answer(message))
            return
        try:
            await self._proxy.take(message, self._client, self._server)
        except ServerGoneError:
            return  # whoever waits for it is told

    async def _answer(self, message: Message) -> None:
        said = await self._proxy.request(
            message, self._named(message), self._server, self._lines.write
        )
        if said is not None:
            await self._lines.write(said)

    def _named(self, message: Message) -> Client:
        """The client, by the name that it gives itself at the beginning or each time."""
        info = message.meta.get(CLIENT_KEY)
        if message.method == _INITIALIZE:
            info = (message.params or {}).get("clientInfo")
        if name := client_of(info):
            self._client = Client(name=name)
        return self._client
