"""A bus between the tasks of one process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sayso.events import Event, Resolution
from sayso.stores.home import Home
from sayso.stores.mailbox import Mailbox
from sayso.stores.protocols import Ring
from sayso.stores.told import refuse_made_up


class MemoryBus:
    """A bus between the tasks of one process. Who does not read what is told loses the oldest."""

    def __init__(self, home: Home | None = None) -> None:
        self._home = home or Home()
        self._listeners: dict[str, set[Mailbox[Event | Ring]]] = {}

    async def publish(self, topic: str, event: Event) -> None:
        """Tell whoever listens to the topic now."""
        refuse_made_up(topic, event)
        self.tell(topic, event)

    def ring(self, inbox: str, ring: Ring) -> int:
        """Tell whoever listens to the inbox now; how many do."""
        return self.tell(f"inbox:{inbox}", ring)

    def is_heard(self, inbox: str) -> bool:
        """Whether anybody listens to the inbox now."""
        return f"inbox:{inbox}" in self._listeners

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[AsyncIterator[Event]]:
        """The events published while the block runs."""
        async with self._heard(topic) as queue:
            yield _events(queue)

    async def subscribers(self, topic: str) -> int:
        """Return the number of subscriptions that the topic has now."""
        return len(self._listeners.get(topic, ()))

    @asynccontextmanager
    async def rings(self, inbox: str) -> AsyncIterator[AsyncIterator[Ring]]:
        """The endings that the inbox is told of while the block runs."""
        async with self._heard(f"inbox:{inbox}") as queue:
            yield _rings(queue)

    def tell(self, topic: str, what: Event | Ring) -> int:
        """Tell whoever listens to the topic now; how many do."""
        self._home.check()
        listeners = self._listeners.get(topic, set())
        for listener in listeners:
            listener.put(what)
        return len(listeners)

    @asynccontextmanager
    async def _heard(self, topic: str) -> AsyncIterator[Mailbox[Event | Ring]]:
        self._home.check()
        queue: Mailbox[Event | Ring] = Mailbox()
        self._listeners.setdefault(topic, set()).add(queue)
        try:
            yield queue
        finally:
            self._listeners[topic].discard(queue)
            if not self._listeners[topic]:
                del self._listeners[topic]


async def _events(queue: Mailbox[Event | Ring]) -> AsyncIterator[Event]:
    while True:
        heard = await queue.get()
        yield heard.ending if isinstance(heard, Ring) else heard


async def _rings(queue: Mailbox[Event | Ring]) -> AsyncIterator[Ring]:
    while True:
        heard = await queue.get()
        if isinstance(heard, Ring):
            yield heard
        elif isinstance(heard, Resolution):
            yield Ring(heard)
