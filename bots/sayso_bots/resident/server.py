"""The helper itself: it listens for commands of its user, and ends when none can come or came."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from sayso_bots.resident.client import HEADER, MOST_BYTES, SAID
from sayso_bots.resident.place import address, is_same_user

_log = logging.getLogger(__name__)

IDLE_SECONDS = 600.0
"""A helper that nobody asks for so long ends."""

# How often a helper looks whether its socket is still there.
LOOK_SECONDS = 5.0

# A command says what it wants as soon as it is connected.
_SAYING_SECONDS = 5.0

Say = Callable[[str], None]
"""Tells a command what it prints while it waits."""

Answer = Callable[[Mapping[str, Any], Say], Awaitable[Mapping[str, Any] | None]]
"""From what a command says to what it is told; None is *do it yourself*."""


@contextmanager
def only_one(folder: str, who: str) -> Iterator[str | None]:
    """The address to listen at while the block runs; None where another helper does.

    The lock beside it says which process it is.
    """
    at = address(folder, who)
    lock = os.open(f"{at}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
        with suppress(FileNotFoundError):
            os.unlink(at)  # of one that was killed
        try:
            yield at
        finally:
            # Where the folder was removed and made anew, the socket may be another helper's.
            if _is_at(f"{at}.lock", os.fstat(lock)):
                with suppress(FileNotFoundError):
                    os.unlink(at)
    finally:
        os.close(lock)


def _is_at(path: str, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), file)
    except OSError:
        return False


class Helper:
    """Answers commands that run the same code; all others, and what it cannot, they do themselves.

    Whoever leaves before the answer no longer wants it: the work is cancelled.
    """

    def __init__(self, who: str, answer: Answer) -> None:
        self._who = who
        self._answer = answer
        self._busy = 0
        self._last = 0.0

    async def serve(
        self, at: str, *, idle_seconds: float = IDLE_SECONDS, look_seconds: float = LOOK_SECONDS
    ) -> None:
        """Listen until nobody has asked for a while, the socket is gone, or SIGTERM comes."""
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stopped.set)
        self._last = loop.time()
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(self._take, at)
        finally:
            os.umask(before)
        socket_file = os.stat(at)
        async with server:
            while not stopped.is_set() and (left := self._left(idle_seconds)) > 0:
                if not self._busy and not _is_at(at, socket_file):
                    return  # nobody can ask any more
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopped.wait(), min(left, look_seconds))

    def _left(self, idle_seconds: float) -> float:
        if self._busy:
            return idle_seconds
        return self._last + idle_seconds - asyncio.get_running_loop().time()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._busy += 1
        try:

            def say(text: str) -> None:
                writer.write(_packed({SAID: text}))

            reply = await self._reply(reader, writer.get_extra_info("socket"), say)
            writer.write(_packed(reply or {}))
            await writer.drain()
        except (OSError, EOFError, ValueError, TimeoutError):
            _log.debug("a command left, or said something else")
        finally:
            self._busy -= 1
            self._last = asyncio.get_running_loop().time()
            writer.close()

    async def _reply(
        self, reader: asyncio.StreamReader, connection: socket.socket, say: Say
    ) -> Mapping[str, Any] | None:
        if not is_same_user(connection):
            return None
        async with asyncio.timeout(_SAYING_SECONDS):
            (length,) = HEADER.unpack(await reader.readexactly(HEADER.size))
            if length > MOST_BYTES:
                return None
            request = json.loads(await reader.readexactly(length))
        if not isinstance(request, dict) or request.get("who") != self._who:
            return None
        return await self._unless_left(request, reader, say)

    async def _unless_left(
        self, request: Mapping[str, Any], reader: asyncio.StreamReader, say: Say
    ) -> Mapping[str, Any] | None:
        work = asyncio.ensure_future(self._worked(request, say))
        left = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (work, left):
                task.cancel()
            await asyncio.wait({work, left})
        if work.cancelled():
            return None
        if (error := work.exception()) is not None:
            _log.warning("a command has to work by itself: %s", type(error).__name__)
            return None
        return work.result()

    async def _worked(self, request: Mapping[str, Any], say: Say) -> Mapping[str, Any] | None:
        try:
            return await self._answer(request, say)
        except (SystemExit, KeyboardInterrupt) as ended:
            # A parser raises one for wrong usage. Let through, it would end the loop, and withdraw
            # what all others wait for.
            _log.debug("a command has to end by itself: %s", type(ended).__name__)
            return None


def _packed(reply: Mapping[str, Any]) -> bytes:
    body = json.dumps(reply).encode()
    return HEADER.pack(len(body)) + body
