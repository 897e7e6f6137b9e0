"""Events of all cells: each topic is told in one of them, but what only stores tell."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from sayso.calls import RunRef
from sayso.errors import BusLostError
from sayso.events import Event
from sayso.stores.backend import Backend
from sayso.stores.cells.cells import Cells
from sayso.stores.mailbox import Mailbox
from sayso.stores.pauses import Pause
from sayso.stores.ports import Bus, Ring
from sayso.stores.told import refuse_made_up
from sayso.stores.topics import BRANCH, INBOX, LOG_TOPIC, NOTICES

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Heard = Callable[[Bus], AbstractAsyncContextManager[AsyncIterator[_T]]]


class CellsBus:
    """Each topic has its cell: a branch that of its session. What only stores tell is in all."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def publish(self, topic: str, event: Event) -> None:
        """Tell whoever listens to the topic now."""
        refuse_made_up(topic, event)
        await self._cell(topic).bus.publish(topic, event)

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[AsyncIterator[Event]]:
        """The events published while the block runs."""
        self._cells.home.check()
        if topic != LOG_TOPIC and not topic.startswith(INBOX):
            async with self._cell(topic).bus.subscribe(topic) as events:
                yield events
            return
        async with self._merged(lambda bus: bus.subscribe(topic)) as merged:
            yield merged

    async def subscribers(self, topic: str) -> int:
        """How many subscriptions the topic has now, in its cell."""
        return await self._cell(topic).bus.subscribers(topic)

    @asynccontextmanager
    async def rings(self, inbox: str) -> AsyncIterator[AsyncIterator[Ring]]:
        """The endings that the inbox is told of, in all cells that answer."""
        async with self._merged(lambda bus: bus.rings(inbox)) as rings:
            yield rings

    def _cell(self, topic: str) -> Backend:
        for kind in (BRANCH, NOTICES):
            if topic.startswith(kind):
                agent, session, branch = json.loads(topic.removeprefix(kind))
                return self._cells.backends[self._cells.name_of(RunRef(agent, session, branch))]
        return self._cells.backends[self._cells.named(f"topic {topic}")]

    @asynccontextmanager
    async def _merged(self, heard: _Heard[_T]) -> AsyncIterator[AsyncIterator[_T]]:
        """What all cells tell. A cell that is away joins when it is back: then some was missed."""
        self._cells.home.check()
        mailbox: Mailbox[_T | BusLostError] = Mailbox()
        loop = asyncio.get_running_loop()
        begun: dict[str, asyncio.Future[BusLostError | None]] = {
            name: loop.create_future() for name in self._cells.names
        }
        hearing = [
            asyncio.create_task(_hear(cell.bus, heard, mailbox, begun[name]))
            for name, cell in self._cells.backends.items()
        ]
        try:
            failed = await asyncio.gather(*begun.values())
            errors = [error for error in failed if error is not None]
            if len(errors) == len(failed):
                raise errors[0]
            yield _told(mailbox)
        finally:
            for task in hearing:
                task.cancel()
            await asyncio.gather(*hearing, return_exceptions=True)


async def _hear(
    bus: Bus,
    heard: _Heard[_T],
    mailbox: Mailbox[_T | BusLostError],
    begun: asyncio.Future[BusLostError | None],
) -> None:
    pause = Pause()
    while True:
        try:
            async with heard(bus) as events:
                if begun.done():
                    mailbox.put(BusLostError("a cell of the store is back: look what was missed"))
                else:
                    begun.set_result(None)
                pause.reset()
                async for event in events:
                    mailbox.put(event)
        except BusLostError as error:
            if not begun.done():
                begun.set_result(error)
            _log.warning("a cell of the store is not heard: %s", error)
            await pause.take()
        except Exception as error:
            _log.exception("a cell of the store is not heard")
            if not begun.done():
                begun.set_result(BusLostError(type(error).__name__))
            await pause.take()


async def _told(mailbox: Mailbox[_T | BusLostError]) -> AsyncIterator[_T]:
    while True:
        item = await mailbox.get()
        if isinstance(item, BusLostError):
            raise item
        yield item
