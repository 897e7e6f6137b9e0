"""Lines of bytes on stdin and stdout: those of this process, and those of one that it starts."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from sayso.errors import ConfigError
from sayso_bots.strict_json import MalformedMessageError

_END_SECONDS = 5.0


class Lines:
    """Lines that come in one way and go out the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes | None:
        """The next line, None at the end.

        Raises:
            MalformedMessageError: it is longer than the limit.
        """
        try:
            return await self._reader.readline() or None
        except ValueError:
            raise MalformedMessageError("a line is longer than any that is read") from None
        except ConnectionError:
            return None

    async def write(self, line: bytes) -> None:
        """Write a line; whoever is gone reads nothing."""
        with suppress(ConnectionError, RuntimeError):
            self._writer.write(line + b"\n")
            await self._writer.drain()

    def close(self) -> None:
        """Write no more: the reader of these lines comes to their end."""
        self._writer.close()


@asynccontextmanager
async def our_lines(longest: int) -> AsyncIterator[Lines]:
    """The stdin and stdout of this process; what else is printed goes to stderr.

    Raises:
        ConfigError: they are files, so nobody speaks to this process.
    """
    if not all(map(_is_spoken_to, (0, 1))):
        raise ConfigError("stdin and stdout must be pipes: what speaks the protocol starts this")
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=longest)
    out = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    read, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer
    )
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
    try:
        yield Lines(reader, asyncio.StreamWriter(transport, protocol, None, loop))
    finally:
        read.close()
        transport.close()


def _is_spoken_to(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(number)


class Child:
    """A process that is spoken to in lines."""

    def __init__(self, process: asyncio.subprocess.Process, lines: Lines) -> None:
        self._process = process
        self.lines = lines

    async def ended(self) -> int:
        """End it: by the end of its input, else by force; its exit code."""
        self.lines.close()
        for force in (self._process.terminate, self._process.kill):
            with suppress(TimeoutError):
                return await asyncio.wait_for(self._process.wait(), _END_SECONDS)
            with suppress(ProcessLookupError):
                force()
        return await self._process.wait()


def explain_not_started(command: str, error: Exception) -> str:
    """Explain to a user that a command did not start."""
    return f"{command}: {getattr(error, 'strerror', None) or error}"


@asynccontextmanager
async def child_of(
    command: Sequence[str], env: Mapping[str, str], longest: int
) -> AsyncIterator[Child]:
    """A process with nothing in its environment that could answer questions.

    Raises:
        ConfigError: it cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={name: value for name, value in env.items() if not name.startswith("SAYSO_")},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=longest,
        )
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the command cannot be started: {explain_not_started(command[0], error)}"
        ) from None
    if process.stdin is None or process.stdout is None:
        raise ConfigError(f"{command[0]} has no stdin or no stdout")
    child = Child(process, Lines(process.stdout, process.stdin))
    try:
        yield child
    finally:
        await child.ended()
