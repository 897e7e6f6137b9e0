"""Work waiting for desks in the memory of one process."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from sayso.stores.home import Home
from sayso.stores.mailbox import MOST_WAITING
from sayso.stores.ports import Job


class MemoryOutbox:
    """Jobs for the desks of one process; the newest 10,000 while there is no desk."""

    def __init__(self, home: Home | None = None) -> None:
        self._home = home or Home()
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

    async def _take(self, mine: list[str]) -> AsyncIterator[Job]:
        while True:
            job = await self._waiting.get()
            self._taken[job.receipt] = job
            mine.append(job.receipt)
            yield job
