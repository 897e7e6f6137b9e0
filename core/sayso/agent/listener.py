"""The events of several agents: heard from other processes, and handed on as one stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self, TypeAlias

from sayso.calls import RunRef
from sayso.errors import SaysoError, SubscriptionLostError
from sayso.events import Event, OutcomeEvent, Resolution
from sayso.stores.home import Home
from sayso.stores.mailbox import Mailbox
from sayso.stores.protocols import Bus
from sayso.stores.topics import branch_topic

_log = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.5

Item: TypeAlias = tuple[str, Event] | SubscriptionLostError | None
"""An event with the id of its agent, an error, or the end."""


@asynccontextmanager
async def observed(bus: Bus, run: RunRef) -> AsyncIterator[AsyncIterator[Event]]:
    """What is asked and decided on the run's branch while the block runs, as observers see it.

    Raises:
        SubscriptionLostError: as for ``Bus.subscribe``.
    """
    async with bus.subscribe(branch_topic(run)) as events:
        # The store tells endings: how one ended is made of it here, and not taken from anybody.
        yield (
            event.observed if isinstance(event, Resolution) else event
            async for event in events
            if not isinstance(event, OutcomeEvent)
        )


class Listener:
    """Hears the events of a run's branch until it is stopped, and says when some may be missing.

    It listens again after every loss of the bus, which it tells once however
    long it lasts. An error that no bus has on purpose ends it.
    """

    def __init__(
        self,
        bus: Bus,
        run: RunRef,
        *,
        tell: Callable[[Event], None],
        lost: Callable[[SubscriptionLostError], None],
    ) -> None:
        self.agent_id = run.agent_id
        self.why_not = "the bus was not reached yet"
        self.broken: SubscriptionLostError | None = None
        self._bus = bus
        self._run = run
        self._tell = tell
        self._lost = lost
        self._told = False
        self._ready = asyncio.Event()
        self._task = asyncio.create_task(self._listen())

    @property
    def is_ready(self) -> bool:
        """Whether events are heard now, or never will be."""
        return self._ready.is_set()

    async def ready(self) -> None:
        """Return when events are heard, or when the listener was stopped.

        Raises:
            SubscriptionLostError: they never will be.
        """
        await self._ready.wait()
        if self.broken is not None:
            raise self.broken

    async def stop(self) -> None:
        """Hear no more, and let nobody wait for it."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._ready.set()

    async def _listen(self) -> None:
        try:
            while True:
                try:
                    await self._hear()
                except SaysoError as error:
                    self._lose(error)
                await asyncio.sleep(_AGAIN_SECONDS)
        except Exception as error:
            # Not its message: that is not ours, and may quote anything.
            kind = type(error).__name__
            self.broken = SubscriptionLostError(
                f"the events of agent {self.agent_id!r} can no longer be heard: listening raised "
                f"{kind}; remove the agent and add it again"
            )
            self.broken.agent_id = self.agent_id
            self.broken.__cause__ = error
            _log.error("the events of %s can no longer be heard: %s", self.agent_id, kind)
            self._ready.set()
            self._lost(self.broken)

    async def _hear(self) -> None:
        async with observed(self._bus, self._run) as events:
            self._told = False
            self._ready.set()
            async for event in events:
                self._tell(event)
        raise SubscriptionLostError("the subscription ended")

    def _lose(self, error: SaysoError) -> None:
        self._ready.clear()
        self.why_not = str(error)
        if self._told:
            return
        self._told = True
        _log.warning("events of %s cannot be heard: %s", self.agent_id, error)
        lost = SubscriptionLostError(f"events of agent {self.agent_id!r} may be missing: {error}")
        lost.__cause__ = error
        self._lost(lost)


class Events:
    """What the agents ask and how it ends, from the moment this was made, each once.

    Iterate it once, in one task. It ends when the orchestrator closes. A
    SubscriptionLostError says that events of other processes may be missing; the
    iteration can go on after it. One with an ``agent_id`` says that those of one agent
    will be missing from now on, and ends the iteration. Of more than 10,000 that
    wait to be read the oldest are lost, which a SubscriptionLostError says too.
    """

    def __init__(self, home: Home | None = None) -> None:
        self._items: Mailbox[Item] = Mailbox(home=home)
        self._over = False

    def put(self, item: Item) -> None:
        """Add an event, an error, or the end."""
        self._items.put(item)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[str, Event]:
        item = None if self._over else await self._items.get()
        self._over = item is None or (
            isinstance(item, SubscriptionLostError) and bool(item.agent_id)
        )
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, Exception):
            raise item
        return item
