"""A process that delivers notifications, on a clock that the test turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.certificates import trusting
from support.hooks import HERE, leads_here

from sayso.stores.home import Home
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.bus import MemoryBus
from sayso.stores.memory.documents import MemoryDocuments
from sayso.stores.memory.errands import MemoryErrands
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Records
from sayso.stores.memory.rules import MemoryRules
from sayso.stores.memory.store import MemoryStore, MemoryWatch
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.aap.webhooks.deliveries import Deliveries
from sayso_bots.aap.webhooks.notification import Notification
from sayso_bots.aap.webhooks.progress import Progresses
from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.room import Room
from sayso_bots.aap.webhooks.sending import Sender

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
INSTANCE = "5f2b2f6e-6a0a-4a0e-9d4c-2f3a8c6f1f00"


def an_end(number: int = 1, instance_id: str = INSTANCE) -> Notification:
    """The end of a request, at the start of the test."""
    request_id = f"00000000-0000-4000-8000-{number:012d}"
    return Notification(instance_id, request_id, "2026-03-01T12:00:00.000Z", "line-1")


@dataclass
class Desk:
    """A process that delivers, with a clock that the test turns."""

    certificate: Path
    receivers: dict[str, Receiver]
    now: datetime = START
    room: Room = field(default_factory=lambda: Room(32, 4))
    store: MemoryStore = field(init=False)
    watch: MemoryWatch = field(init=False)
    errands: MemoryErrands = field(init=False)
    documents: MemoryDocuments = field(init=False)

    def __post_init__(self) -> None:
        self.errands = MemoryErrands(self._clock)
        self.documents = MemoryDocuments(self._clock)
        home = Home()
        records = Records(self._clock, home)
        audit = MemoryAudit(records, self._clock)
        bus, outbox = MemoryBus(home), MemoryOutbox(home)
        rules = MemoryRules(records, audit, outbox, self._clock)
        self.store = MemoryStore(records, rules, audit, bus, outbox, self.errands, self._clock)
        self.watch = MemoryWatch(records, self.store, self._clock)

    def _clock(self) -> datetime:
        return self.now

    async def receiver(self, told: Notification) -> Receiver | None:
        """The receiver of an instance."""
        return self.receivers.get(told.instance_id)

    def deliveries(self) -> Deliveries:
        """Deliveries on the store of this desk."""
        sender = Sender(HERE, trusting(self.certificate), resolve=leads_here)
        return Deliveries(
            self,
            self.errands,
            self.watch,
            Progresses(self.documents),
            sender,
            self.room,
            clock=self._clock,
            jitter=lambda: 1.0,
        )

    async def waiting_for(self) -> timedelta | None:
        """In how long something is due; None when nothing waits."""
        due = await self.errands.take("aap-notifications", most=0, hold=0)
        return None if due.next_in is None else timedelta(seconds=due.next_in)


@asynccontextmanager
async def at_work(deliveries: Deliveries) -> AsyncIterator[None]:
    """Deliver while the block runs."""
    task = asyncio.create_task(deliveries.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], object]) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def nothing_waits(desk: Desk) -> None:
    """Wait until everything is delivered or over."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await desk.waiting_for() is not None:
            await asyncio.sleep(0.01)


async def next_in(desk: Desk) -> timedelta:
    """When the next try is due, once the one under way has failed."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (due := await desk.waiting_for()) is None or due == timedelta(seconds=30):
            await asyncio.sleep(0.01)
    return due
