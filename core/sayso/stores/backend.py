"""All ports of one store together, and the inbox that it rings in this process."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.stores.inbox import Inbox
from sayso.stores.ports import (
    Audit,
    BranchLog,
    Bus,
    Copies,
    Drafts,
    Leases,
    Outbox,
    Roster,
    Rules,
    Store,
    Watch,
)


@dataclass(frozen=True, slots=True)
class Backend:
    """One store and its bus, as seen by one process. Whoever opened it closes it."""

    store: Store
    watch: Watch
    copies: Copies
    rules: Rules
    audit: Audit
    bus: Bus
    outbox: Outbox
    leases: Leases
    roster: Roster
    drafts: Drafts
    log: BranchLog
    inbox: Inbox
