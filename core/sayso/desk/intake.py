"""What comes to a desk from others at work: cards that they posted, and jobs that are its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from sayso.desk.bodies import KEPT_BODIES
from sayso.stores.ports import Copy, Job, Outbox, Settled, Shown, Upkeep


class DeskIntake:
    """Knows the newest few thousand cards of other desks, and passes jobs on while it works."""

    def __init__(self, outbox: Outbox, desk: str) -> None:
        self._outbox = outbox
        self._desk = desk
        self._do: Callable[[Job], None] | None = None
        self._cards: dict[str, Shown] = {}

    @asynccontextmanager
    async def jobs(self, do: Callable[[Job], None]) -> AsyncIterator[AsyncIterator[Job]]:
        """Jobs as they come, while others reach this desk; what they ring for is done by ``do``."""
        async with self._outbox.jobs(self._desk, self) as jobs:
            self._do = do
            try:
                yield jobs
            finally:
                self._do = None

    def upkeep(self, poster: str = "") -> Upkeep | None:
        """Who brings the cards up to date of what is settled here; None: any desk."""
        return None if self._do is None else Upkeep(self._desk, poster)

    def settled(self, settled: Settled) -> None:
        """Do what is left to do, where that was given to this desk."""
        if settled.record is None or not settled.receipt:
            return
        question_id = settled.record.request.question_id
        job = Job("end", question_id, settled.receipt, record=settled.record)
        self._outbox.have(self._desk, job)
        self.rung(job)

    def rung(self, job: Job) -> None:
        """Another desk settled a request whose card this one posted."""
        if self._do is not None:
            self._do(job)

    def heard(self, shown: Shown) -> None:
        """Another desk posted a card."""
        self._cards[shown.handle] = shown
        if len(self._cards) > KEPT_BODIES:
            del self._cards[next(iter(self._cards))]

    def card(self, handle: str) -> Shown | None:
        """The open card of another desk behind a handle; None where it was not heard of."""
        return self._cards.get(handle)

    def forget(self, copies: Iterable[Copy]) -> None:
        """These cards take no more decisions."""
        for copy in copies:
            self._cards.pop(copy.handle, None)
