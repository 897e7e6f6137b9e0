"""What gates and desks share: all ports together, and the inbox of this process."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sayso.calls import RunRef
from sayso.stores.inbox import Inbox
from sayso.stores.ports import (
    Audit,
    BranchLog,
    Bus,
    Copies,
    Drafts,
    Leases,
    Outbox,
    Rules,
    Store,
    Watch,
)
from sayso.stores.roster import Roster


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


def branch_topic(run: RunRef) -> str:
    """The topic on which observers of a run's branch hear what is asked and how it ended."""
    return "events:" + json.dumps([run.agent_id, run.session_id, run.branch_id])
