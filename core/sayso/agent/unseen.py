"""Questions that nobody can see, as no workers run on the store, end before their time is over."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.errors import SaysoError
from sayso.stores.backend import Backend
from sayso.stores.topics import branch_topic
from sayso.tasks import Background

NO_WORKERS = "no workers run on this store"

# Many that are asked one after the other are looked at together.
_PAUSE_SECONDS = 1.0


class UnseenQuestions:
    """Ends each question that was opened so many seconds ago and that nobody can answer.

    That is so where no worker runs on the store by then, no card of it was posted, and nobody
    follows the events of its run, as somebody does who answers in a program of their own.
    In the memory of one process nobody says whether workers run: there no question ends early.
    """

    def __init__(self, backend: Backend, seconds: float, clock: Clock) -> None:
        self._backend = backend
        self._seconds = seconds
        self._clock = clock
        self._due: deque[tuple[float, str, RunRef]] = deque()
        self._looking = Background("looking whether workers run")

    def watch(self, question_id: str, run: RunRef) -> None:
        """Look at this question in time."""
        if not self._backend.at(run).inbox.knows_workers:
            return
        self._due.append((asyncio.get_running_loop().time() + self._seconds, question_id, run))
        if not self._looking:
            self._looking.start(self._look())

    async def stop(self) -> None:
        """Look at none any more."""
        await self._looking.cancel()

    async def _look(self) -> None:
        now = asyncio.get_running_loop().time
        while self._due:
            await asyncio.sleep(max(self._due[0][0] - now(), min(self._seconds, _PAUSE_SECONDS)))
            late = []
            while self._due and self._due[0][0] <= now():
                late.append(self._due.popleft())
            # A store that does not answer says nothing about workers: then the time goes on.
            with suppress(SaysoError):
                if await self._backend.roster.count() == 0:
                    for _, question_id, run in late:
                        await self._end(question_id, run)

    async def _end(self, question_id: str, run: RunRef) -> None:
        record = await self._backend.store.get(question_id)
        if record is None or record.ending is not None or any(one.stands for one in record.copies):
            return
        if await self._backend.bus.subscribers(branch_topic(run)) == 0:
            ending = record.request.undeliverable(at=self._clock(), reason=NO_WORKERS)
            await self._backend.store.settle(question_id, ending)
