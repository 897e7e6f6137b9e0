"""MCP over stdin and stdout: a client at ours, a server that is a process of ours."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sayso.tasks import Background
from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import Client, Server, ServerGoneError, Tell
from sayso_bots.mcp.messages import CLIENT_KEY, MOST_BYTES, Message, client_of
from sayso_bots.mcp.proxy import Proxy
from sayso_bots.process.lines import Lines, explain_not_started
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


_log = logging.getLogger(__name__)

_END_SECONDS = 5.0


class Process:
    """A server of one client's own. What it says unasked goes to ``tell``."""

    def __init__(self, command: Sequence[str], tell: Tell) -> None:
        self._command = command
        self._tell = tell
        self._waiting: dict[str, asyncio.Future[bytes | None]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._why = "it has ended"
        self.ended = asyncio.Event()

    @property
    def code(self) -> int | None:
        """Its exit code, when it was closed."""
        return None if self._process is None else self._process.returncode

    @property
    def is_busy(self) -> bool:
        """Return True while a request waits for its answer."""
        return bool(self._waiting)

    async def start(self, env: Mapping[str, str]) -> None:
        """Start it, without anything in its environment that could answer questions.

        Raises:
            ServerGoneError: it cannot be started.
        """
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                env=without_ours(env),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=MOST_BYTES,
            )
        except (OSError, ValueError) as error:
            raise ServerGoneError(explain_not_started(self._command[0], error)) from None
        self._reading = asyncio.create_task(self._read())

    async def request(self, raw: bytes, message: Message, tell: Tell) -> bytes:  # noqa: ARG002
        """Its answer; what it says before goes where all goes that it says unasked."""
        future: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._waiting[message.id] = future
        try:
            await self._write(raw)
            said = await future
        finally:
            del self._waiting[message.id]
        if said is None:
            raise ServerGoneError(self._why)
        return said

    async def send(self, message: Message) -> None:
        """Hand it what needs no answer."""
        await self._write(message.raw)

    async def close(self) -> None:
        """End it: by the end of its input, else by force."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        for force in (process.terminate, process.kill):
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _END_SECONDS)
                break
            with suppress(ProcessLookupError):
                force()
        await process.wait()
        if self._reading is not None:
            await asyncio.wait({self._reading})

    async def _write(self, raw: bytes) -> None:
        process = self._process
        if process is None or process.stdin is None or self.ended.is_set():
            raise ServerGoneError(self._why)
        try:
            process.stdin.write(raw + b"\n")
            await process.stdin.drain()
        except (ConnectionError, RuntimeError) as error:
            raise ServerGoneError(str(error) or self._why) from None

    async def _read(self) -> None:
        process = self._process
        if process is None or process.stdout is None:
            return
        try:
            while line := await process.stdout.readline():
                await self._take(line.rstrip(b"\r\n"))
        except ValueError:
            self._why = "it said more than fits on a line"
        except ConnectionError as error:
            self._why = str(error)
        finally:
            self.ended.set()
            for future in self._waiting.values():
                if not future.done():
                    future.set_result(None)

    async def _take(self, line: bytes) -> None:
        if (id_ := answered(line)) is None:
            if line.strip():
                await self._tell(line)
            return
        future = self._waiting.get(id_)
        if future is not None and not future.done():
            future.set_result(line)


def answered(line: bytes) -> str | None:
    """The id of the request that a line of a server answers, as JSON; None where it does not."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or "method" in found or "id" not in found:
        return None
    return json.dumps(found["id"])


def without_ours(env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of a server: nothing that could answer questions is in it."""
    return {name: value for name, value in env.items() if not name.startswith("SAYSO_")}
