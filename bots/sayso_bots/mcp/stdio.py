"""A client at our stdin and stdout: a message a line, in and out."""

from __future__ import annotations

import asyncio

from sayso.tasks import Background
from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import Client, Server, ServerGoneError
from sayso_bots.mcp.calls import CLIENT_KEY, client_of
from sayso_bots.mcp.messages import Message
from sayso_bots.mcp.proxy import Proxy
from sayso_bots.process.lines import Lines
from sayso_bots.strict_json import MalformedMessageError

_INITIALIZE = "initialize"


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
            MalformedMessageError: a line is too long to be read.
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
        except MalformedMessageError as error:
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
