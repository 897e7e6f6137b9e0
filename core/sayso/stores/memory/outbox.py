"""Work waiting for desks in the memory of one process."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from sayso.stores.home import Home
from sayso.stores.mailbox import MOST_WAITING
from sayso.stores.ports import Intake, Job, Record, Shown, Upkeep


class MemoryOutbox:
    """Jobs for the desks of one process; the newest 10,000 while there is no desk."""

    def __init__(self, home: Home | None = None) -> None:
        self._home = home or Home()
        self._desks = 0
        self._waiting: asyncio.Queue[Job] = asyncio.Queue()
        self._taken: dict[str, Job] = {}
        self._mine: dict[str, list[str]] = {}
        self._intakes: dict[str, Intake] = {}
        self._receipts = itertools.count(1)

    def put_job(
        self, kind: Literal["ask", "end"], question_id: str, *, again: bool = False
    ) -> None:
        """Leave a job for a desk."""
        if not self._desks and self._waiting.qsize() >= MOST_WAITING:
            self._waiting.get_nowait()
        self._waiting.put_nowait(Job(kind, question_id, str(next(self._receipts)), again=again))

    def give(self, record: Record, upkeep: Upkeep) -> Job | None:
        """Give the job to bring its cards up to date to a desk; to whoever settled where it is."""
        owner = upkeep.poster or upkeep.desk
        mine, intake = self._mine.get(owner), self._intakes.get(owner)
        if mine is None or (intake is None and owner != upkeep.desk):
            self.put_job("end", record.request.question_id)
            return None
        job = Job("end", record.request.question_id, str(next(self._receipts)), record=record)
        self._taken[job.receipt] = job
        mine.append(job.receipt)
        if intake is None or owner == upkeep.desk:
            return job
        intake.rung(job)
        return None

    def tell(self, shown: Shown) -> None:
        """Tell all desks but the one that posted it of a card."""
        for desk, intake in self._intakes.items():
            if desk != shown.offer.desk:
                intake.heard(shown)

    def have(self, desk: str, job: Job) -> None:
        """The desk got this job from the store, which has noted it already."""

    @asynccontextmanager
    async def jobs(
        self, desk: str, intake: Intake | None = None
    ) -> AsyncIterator[AsyncIterator[Job]]:
        """Jobs for a desk, as they come; those it did not finish go back when the block ends."""
        self._home.check()
        mine = self._mine[desk] = []
        self._desks += 1
        if intake is not None:
            self._intakes[desk] = intake
        try:
            yield self._take(mine)
        finally:
            self._desks -= 1
            if self._mine.get(desk) is mine:
                del self._mine[desk]
                self._intakes.pop(desk, None)
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
