"""The backend in the memory of one process: for trying out, for tests, for ``sayso demo``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sayso.clock import Clock, utc_now
from sayso.stores.backend import Backend
from sayso.stores.home import Home
from sayso.stores.inbox import Inbox
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.bus import MemoryBus
from sayso.stores.memory.checkup import MemoryCheckup
from sayso.stores.memory.copies import MemoryCopies
from sayso.stores.memory.errands import MemoryErrands
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.memory.keyed import MemoryKeyed
from sayso.stores.memory.log import MemoryBranchLog
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Records
from sayso.stores.memory.roster import MemoryRoster
from sayso.stores.memory.rules import MemoryRules
from sayso.stores.memory.store import MemoryStore, MemoryWatch
from sayso.stores.memory.uses import MemoryUses


@asynccontextmanager
async def memory_backend(*, clock: Clock = utc_now) -> AsyncIterator[Backend]:
    """A backend for one process; everything is gone when the block ends."""
    home = Home()
    home.check()
    bus, outbox, errands = MemoryBus(home), MemoryOutbox(home), MemoryErrands(clock)
    records = Records(clock, home)
    audit = MemoryAudit(records, clock)
    rules = MemoryRules(records, audit, outbox, clock)
    store = MemoryStore(records, rules, audit, bus, outbox, clock)
    watch = MemoryWatch(records, store, clock)
    async with Inbox(bus, watch) as inbox:
        yield Backend(
            store=store,
            watch=watch,
            keyed=MemoryKeyed(records, store, bus),
            copies=MemoryCopies(records),
            rules=rules,
            floors=rules,
            audit=audit,
            bus=bus,
            outbox=outbox,
            key_value=MemoryKeyValue(clock),
            roster=MemoryRoster(records, clock),
            errands=errands,
            uses=MemoryUses(records, audit, outbox),
            log=MemoryBranchLog(bus, records, clock),
            checkup=MemoryCheckup(),
            inbox=inbox,
        )
