"""The doorbell: events to whoever listens now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from sayso.events import Event, Resolution


@dataclass(frozen=True, slots=True)
class Ring:
    """An ending, as an inbox hears of it.

    ``book`` is the version of the session's rules and ``at`` the time of the
    store's clock in Unix seconds, both of the atomic step that told the inbox;
    ``book`` is None where that is not known or was too long ago.
    """

    ending: Resolution
    book: str | None = None
    at: float = 0.0


class Bus(Protocol):
    """Tells subscribers of events: at most once, in order per topic. Broken means an error."""

    async def publish(self, topic: str, event: Event) -> None:
        """Tell whoever listens to the topic now.

        What is asked on a branch and how it ended is told by the store, and by nobody else.

        Raises:
            SubscriptionLostError: the bus cannot be reached.
            ValueError: it is one of the store's topics, and an event that only the store tells.
        """
        ...

    def subscribe(self, topic: str) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """The events published while the block runs.

        Raises:
            SubscriptionLostError: on entry when the bus cannot be reached, from the
                iterator when events may have been missed.
        """
        ...

    async def subscribers(self, topic: str) -> int:
        """Return the number of subscriptions that the topic has now, as far as this can be told.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        ...

    def rings(self, inbox: str) -> AbstractAsyncContextManager[AsyncIterator[Ring]]:
        """The endings that the inbox of this name is told of while the block runs.

        Raises:
            SubscriptionLostError: as for ``subscribe``.
        """
        ...
