"""All ports of one store together, and the inbox that it rings in this process."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.stores.inbox import Inbox
from sayso.stores.ports import (
    Audit,
    BranchLog,
    Bus,
    Checkup,
    Copies,
    Errands,
    Floors,
    Keyed,
    Outbox,
    Roster,
    Rules,
    Store,
    Uses,
    Watch,
)
from sayso.stores.protocols import KeyValueStore


@dataclass(frozen=True, slots=True)
class Backend:
    """One store and its bus, as seen by one process. Whoever opened it closes it.

    Only gates wait, yet the ``inbox`` is here: a process has one of them however
    many gates come and go, and it lives exactly as long as the connection it
    listens on. It connects when somebody waits, so a desk pays nothing for it.
    """

    store: Store
    watch: Watch
    keyed: Keyed
    copies: Copies
    rules: Rules
    floors: Floors
    audit: Audit
    bus: Bus
    outbox: Outbox
    key_value: KeyValueStore
    roster: Roster
    errands: Errands
    uses: Uses
    log: BranchLog
    checkup: Checkup
    inbox: Inbox
