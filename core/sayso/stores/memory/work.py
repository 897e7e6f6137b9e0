"""Work waiting for desks, the desks, and leases, in the memory of one process."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from sayso.chats.places import Place
from sayso.clock import Clock
from sayso.stores.ports import Job


class MemoryOutbox:
    """Jobs for the desks of one process."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Job] = asyncio.Queue()
        self._taken: dict[str, Job] = {}
        self._receipts = itertools.count(1)

    def put(self, kind: Literal["ask", "end"], question_id: str) -> None:
        """Leave a job for a desk."""
        self._waiting.put_nowait(Job(kind, question_id, str(next(self._receipts))))

    @asynccontextmanager
    async def jobs(self, desk: str) -> AsyncIterator[AsyncIterator[Job]]:  # noqa: ARG002
        """Jobs for a desk, as they come; those it did not finish go back when the block ends."""
        mine: list[str] = []
        try:
            yield self._take(mine)
        finally:
            for receipt in mine:
                if (job := self._taken.pop(receipt, None)) is not None:
                    self._waiting.put_nowait(job)

    async def done(self, job: Job) -> None:
        """The job is finished and will not come again."""
        self._taken.pop(job.receipt, None)

    async def _take(self, mine: list[str]) -> AsyncIterator[Job]:
        while True:
            job = await self._waiting.get()
            self._taken[job.receipt] = job
            mine.append(job.receipt)
            yield job


class MemoryLeases:
    """Leases between the tasks of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, tuple[str, datetime]] = {}
        self._places: dict[Place, Place] = {}

    async def ping(self) -> None:
        """Return when the store answers: at once."""

    async def hold(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or keep a lease: at most one owner has it at a time."""
        now = self._clock()
        holder, until = self._held.get(name, (owner, now))
        if holder != owner and until > now:
            return False
        self._held = {name: held for name, held in self._held.items() if held[1] > now}
        self._held[name] = (owner, now + timedelta(seconds=seconds))
        return True

    async def move(self, old: Place, new: Place) -> None:
        """Remember that a chat has a new address."""
        self._places[old] = new

    async def moved(self, place: Place) -> Place:
        """Where a chat is now."""
        chat = Place(place.platform, place.address)
        if (new := self._places.get(chat)) is None:
            return place
        return replace(new, thread=place.thread)


class MemoryRoster:
    """The desks of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, datetime] = {}

    async def join(self, desk: str, *, seconds: float) -> None:
        """The desk of this name is at work for so long."""
        self._until[desk] = self._clock() + timedelta(seconds=seconds)

    async def leave(self, desk: str) -> None:
        """The desk works no more."""
        self._until.pop(desk, None)

    async def count(self) -> int:
        """How many desks are at work."""
        now = self._clock()
        self._until = {desk: until for desk, until in self._until.items() if until > now}
        return len(self._until)
