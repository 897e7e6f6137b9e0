"""The backend in the memory of one process: for trying out, for tests, for ``sayso demo``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sayso.clock import Clock, utc_now
from sayso.stores.backend import Backend, Issue
from sayso.stores.home import Home
from sayso.stores.inbox import Inbox
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.bus import MemoryBus
from sayso.stores.memory.card_messages import MemoryCopies
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.memory.log import MemoryBranchLog
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Records
from sayso.stores.memory.request_store import MemoryRequestStore
from sayso.stores.memory.rule_store import MemoryRuleStore


@asynccontextmanager
async def memory_backend(*, clock: Clock = utc_now) -> AsyncIterator[Backend]:
    """A backend for one process; everything is gone when the block ends."""
    home = Home()
    home.check()
    bus, outbox = MemoryBus(home), MemoryOutbox(clock, home)
    records = Records(clock, home)
    audit = MemoryAudit(records, clock)
    rules = MemoryRuleStore(records, audit, outbox, clock)
    store = MemoryRequestStore(records, rules, audit, bus, outbox, clock)
    async with Inbox(bus, store) as inbox:
        yield Backend(
            store=store,
            copies=MemoryCopies(records),
            rules=rules,
            audit=audit,
            bus=bus,
            outbox=outbox,
            key_value=MemoryKeyValue(clock),
            log=MemoryBranchLog(bus, records, clock),
            diagnose=_diagnose,
            inbox=inbox,
        )


async def _diagnose() -> Sequence[Issue]:
    return ()
