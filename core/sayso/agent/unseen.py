"""Questions that nobody can see, as no workers run on the store, end before their time is over."""

from __future__ import annotations

import asyncio
import heapq
from contextlib import suppress
from itertools import count

from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.errors import SaysoError
from sayso.stores.backend import Backend
from sayso.stores.topics import branch_topic
from sayso.tasks import Background

NO_WORKERS = "no workers run on this store"

# Many that are asked one after the other are looked at together.
_PAUSE_SECONDS = 1.0
_AGAIN_SECONDS = 3.0


class UnseenQuestions:
    """Ends each question that was opened so many seconds ago and that nobody can answer.

    That is so where no worker runs on the store by then, no card of it was posted, and nobody
    follows the events of its run, as somebody does who answers in a program of their own.
    It looks again, each time later, where the store did not say or a worker has posted nothing.
    In the memory of one process nobody says whether workers run: there no question ends early.
    """

    def __init__(self, backend: Backend, seconds: float, clock: Clock) -> None:
        self._backend = backend
        self._seconds = seconds
        self._clock = clock
        self._numbers = count()
        self._due: list[tuple[float, int, float, str, RunRef]] = []
        self._looking = Background("looking whether workers run")

    def watch(self, question_id: str, run: RunRef) -> None:
        """Look at this question in time."""
        if not self._backend.inbox.knows_workers:
            return
        self._look_in(self._seconds, min(self._seconds, _AGAIN_SECONDS), question_id, run)
        if not self._looking:
            self._looking.start(self._look())

    async def stop(self) -> None:
        """Look at none any more."""
        await self._looking.cancel()

    def _look_in(self, seconds: float, again: float, question_id: str, run: RunRef) -> None:
        at = asyncio.get_running_loop().time() + seconds
        heapq.heappush(self._due, (at, next(self._numbers), again, question_id, run))

    async def _look(self) -> None:
        now = asyncio.get_running_loop().time
        while self._due:
            await asyncio.sleep(max(self._due[0][0] - now(), min(self._seconds, _PAUSE_SECONDS)))
            late = []
            while self._due and self._due[0][0] <= now():
                late.append(heapq.heappop(self._due))
            works = True
            with suppress(SaysoError):
                works = await self._backend.outbox.count_workers() > 0
            await asyncio.gather(*(self._look_at(*one[2:], works=works) for one in late))

    async def _look_at(self, again: float, question_id: str, run: RunRef, *, works: bool) -> None:
        # A store that does not answer says nothing about workers: then the time goes on.
        with suppress(SaysoError):
            record = await self._backend.store.get(question_id)
            if record is None or record.ending or any(one.stands for one in record.copies):
                return
            if not works:
                if await self._backend.bus.subscribers(branch_topic(run)) == 0:
                    ending = record.request.undeliverable(at=self._clock(), reason=NO_WORKERS)
                    await self._backend.store.settle(question_id, ending)
                return
        self._look_in(again, 2 * again, question_id, run)
