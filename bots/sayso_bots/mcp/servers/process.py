"""A server that is a process: a message a line on its stdin, its answers on its stdout."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sayso_bots.mcp.asking import ServerGoneError, Tell
from sayso_bots.mcp.messages import MOST_BYTES, Message
from sayso_bots.process.lines import not_started

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
            raise ServerGoneError(not_started(self._command[0], error)) from None
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
