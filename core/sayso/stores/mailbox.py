"""What waits to be read by somebody who may never read it."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from sayso.errors import SubscriptionLostError
from sayso.stores.home import Home

_T = TypeVar("_T")

MOST_WAITING = 10_000
"""How many items wait for one reader."""


class Mailbox(Generic[_T]):
    """Items in order, for one reader. Of more than ``most`` that wait, the oldest are lost."""

    def __init__(self, most: int = MOST_WAITING, home: Home | None = None) -> None:
        self._most = most
        self._home = home or Home()
        self._items: asyncio.Queue[_T] = asyncio.Queue()
        self._lost = 0

    def __len__(self) -> int:
        """How many items wait."""
        return self._items.qsize()

    def put(self, item: _T) -> None:
        """Add an item; the reader will be told that the oldest one was lost, where that is full."""
        if len(self) >= self._most:
            self._items.get_nowait()
            self._lost += 1
        self._items.put_nowait(item)

    async def get(self) -> _T:
        """The next item, as soon as there is one.

        Raises:
            SubscriptionLostError: some were lost; reading can go on.
            GateClosedError: this belongs to another event loop.
        """
        self._home.check()
        if self._lost:
            lost, self._lost = self._lost, 0
            raise SubscriptionLostError(
                f"{lost} events were lost: more than {self._most} waited to be read; read faster, "
                "or look in the store"
            )
        return await self._items.get()
