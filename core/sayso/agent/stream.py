"""What several agents ask and how it ends, as one stream."""

from __future__ import annotations

import asyncio
from typing import Self, TypeAlias

from sayso.errors import BusLostError, ListenerError
from sayso.events import Event

Item: TypeAlias = tuple[str, Event] | BusLostError | ListenerError | None


class Events:
    """What the agents ask and how it ends, from the moment this was made, each once.

    Iterate it once, in one task. It ends when the orchestrator closes. A
    BusLostError says that events of other processes may be missing; the
    iteration can go on after it. A ListenerError says that those of one agent
    will be missing from now on, and ends the iteration.
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Item] = asyncio.Queue()
        self._over = False

    def put(self, item: Item) -> None:
        """Add an event, an error, or the end."""
        self._queue.put_nowait(item)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[str, Event]:
        item = None if self._over else await self._queue.get()
        self._over = item is None or isinstance(item, ListenerError)
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, Exception):
            raise item
        return item
