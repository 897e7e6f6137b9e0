"""Connections that a parent accepts and hands to its workers, and what it tells them besides."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

# What a parent tells: how many of its workers are ready, how many there should be.
_TOLD = struct.Struct("!HH")
_READY = b"r"
# So many are taken before anything else has its turn.
_AT_ONCE = 64

Protocols = Callable[[], asyncio.Protocol]


@dataclass(slots=True)
class Wire:
    """A worker at its parent's side. Each connection goes over once, and belongs to the worker."""

    control: socket.socket

    def tell(self, ready: int, wanted: int, connection: socket.socket | None = None) -> bool:
        """Tell how many workers are ready, with a connection; False while it takes no more.

        Raises:
            OSError: it is gone.
        """
        handed = [] if connection is None else [connection.fileno()]
        try:
            socket.send_fds(self.control, [_TOLD.pack(ready, wanted)], handed)
        except BlockingIOError:
            return False
        return True

    def heard(self) -> bool | None:
        """Whether it said that it is ready, which is all it says; None when it is gone."""
        try:
            said = self.control.recv(_AT_ONCE)
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True if said else None


class Handed:
    """A worker's own side: its connections come from its parent, and so does the word to end.

    ``url`` is where the parent listens; ``problem`` says how many of the
    workers are ready, and is empty when all are. ``orphaned`` is called once
    the parent is gone. One of several workers ``speaks`` of what they are.
    """

    def __init__(self, control: socket.socket, url: str, *, speaks: bool = True) -> None:
        self.url = url
        self.speaks = speaks
        self.problem = ""
        self.orphaned: Callable[[], None] = lambda: None
        self._control = control
        self._taking: set[asyncio.Task[object]] = set()

    def ready(self) -> None:
        """Tell the parent that calls are answered here."""
        try:
            self._control.send(_READY)
        except OSError:
            self.orphaned()

    @asynccontextmanager
    async def accepting(self, made: Protocols) -> AsyncIterator[None]:
        """Let the protocols have the connections that come while the block runs."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._control, self._take, made)
        try:
            yield
        finally:
            loop.remove_reader(self._control)

    def _take(self, made: Protocols) -> None:
        for _ in range(_AT_ONCE):
            try:
                told, handed, _, _ = socket.recv_fds(self._control, _TOLD.size, 1)
            except BlockingIOError:
                return
            except OSError:
                told, handed = b"", []
            if len(told) != _TOLD.size:
                for number in handed:
                    os.close(number)
                asyncio.get_running_loop().remove_reader(self._control)
                self.orphaned()
                return
            self._note(*_TOLD.unpack(told))
            for number in handed:
                self._answer(made, number)

    def _note(self, ready: int, wanted: int) -> None:
        self.problem = "" if ready >= wanted else f"{ready} of {wanted} are ready"

    def _answer(self, made: Protocols, number: int) -> None:
        loop = asyncio.get_running_loop()
        connection = socket.socket(fileno=number)
        connection.setblocking(False)
        taking = loop.create_task(loop.connect_accepted_socket(made, connection))
        self._taking.add(taking)

        def taken(task: asyncio.Task[object]) -> None:
            self._taking.discard(task)
            # A caller that hung up before it was taken is nobody's loss.
            if not task.cancelled() and task.exception() is not None:
                connection.close()

        taking.add_done_callback(taken)


def wires() -> tuple[Wire, socket.socket]:
    """Both ends between a parent and a worker."""
    here, there = socket.socketpair()
    here.setblocking(False)
    there.setblocking(False)
    return Wire(here), there
