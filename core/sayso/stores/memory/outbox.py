"""Outbox in the memory of one process: jobs, jobs for later, and workers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Literal

from sayso.clock import Clock
from sayso.stores.home import Home
from sayso.stores.mailbox import MOST_WAITING
from sayso.stores.protocols import NO_LIMITS, Due, Job, OpenLimits


class MemoryOutbox:
    """Jobs for the desks of one process; the newest 10,000 while there is no desk."""

    def __init__(self, clock: Clock, home: Home | None = None) -> None:
        self.limits = NO_LIMITS
        self._clock = clock
        self._home = home or Home()
        self._queues: dict[str, dict[str, datetime]] = {}
        self._workers: dict[str, datetime] = {}
        self._desks = 0
        self._waiting: asyncio.Queue[Job] = asyncio.Queue()
        self._taken: dict[str, Job] = {}
        self._receipts = itertools.count(1)

    def put_job(
        self, kind: Literal["ask", "end"], question_id: str, *, again: bool = False
    ) -> None:
        """Leave a job for a desk."""
        if not self._desks and self._waiting.qsize() >= MOST_WAITING:
            self._waiting.get_nowait()
        self._waiting.put_nowait(Job(kind, question_id, str(next(self._receipts)), again=again))

    @asynccontextmanager
    async def jobs(self, desk: str) -> AsyncIterator[AsyncIterator[Job]]:  # noqa: ARG002
        """Jobs for a desk, as they come; those it did not finish go back when the block ends."""
        self._home.check()
        mine: list[str] = []
        self._desks += 1
        try:
            yield self._take(mine)
        finally:
            self._desks -= 1
            for receipt in mine:
                if (job := self._taken.pop(receipt, None)) is not None:
                    self._waiting.put_nowait(job)

    async def done(self, job: Job) -> None:
        """The job is finished and will not come again."""
        self._taken.pop(job.receipt, None)

    async def schedule(
        self,
        queue: str,
        name: str,
        *,
        seconds: float = 0.0,
    ) -> None:
        """Let the name be due in so many seconds."""
        self._queues.setdefault(queue, {})[name] = self._clock() + timedelta(seconds=seconds)

    async def claim_scheduled(self, queue: str, *, most: int, hold: float) -> Due:
        """Claim what is due; due again in ``hold`` seconds unless it is done by then."""
        now, waiting = self._clock(), self._queues.get(queue, {})
        due = sorted((at, name) for name, at in waiting.items() if at <= now)[:most]
        for _, name in due:
            waiting[name] = now + timedelta(seconds=hold)
        next_at = min(waiting.values(), default=None)
        left = None if next_at is None else max(0.0, (next_at - now).total_seconds())
        return Due([name for _, name in due], left)

    async def complete_scheduled(self, queue: str, name: str) -> None:
        """It is done, and will not come again."""
        self._queues.get(queue, {}).pop(name, None)

    async def heartbeat(
        self, desk: str, *, seconds: float, limits: OpenLimits | None = None
    ) -> None:
        """The desk of this name is at work for so long, with these limits."""
        if limits is not None:
            self.limits = limits
        self._workers[desk] = self._clock() + timedelta(seconds=seconds)

    async def remove_worker(self, desk: str) -> None:
        """The desk has stopped."""
        self._workers.pop(desk, None)

    async def count_workers(self) -> int:
        """Return the number of workers that are running."""
        now = self._clock()
        self._workers = {desk: until for desk, until in self._workers.items() if until > now}
        return len(self._workers)

    async def _take(self, mine: list[str]) -> AsyncIterator[Job]:
        while True:
            job = await self._waiting.get()
            self._taken[job.receipt] = job
            mine.append(job.receipt)
            yield job
