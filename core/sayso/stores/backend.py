"""All ports of one store together, and the inbox that it rings in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sayso.calls import RunRef
from sayso.stores.inbox import Inbox
from sayso.stores.ports import (
    Audit,
    BranchLog,
    Budgets,
    Bus,
    Checkup,
    Copies,
    Documents,
    Drafts,
    Errands,
    Floors,
    Keyed,
    Leases,
    Outbox,
    Roster,
    Rules,
    Store,
    Uses,
    Watch,
)


@dataclass(frozen=True, slots=True)
class Backend:
    """One store and its bus, as seen by one process. Whoever opened it closes it.

    Only gates wait, yet the ``inbox`` is here: a process has one of them however
    many gates come and go, and it lives exactly as long as the connection it
    listens on. It connects when somebody waits, so a desk pays nothing for it.

    A store may be made of several, its ``cells``. Whoever waits for a question does so in
    the cell of its session, which is the backend ``at`` its run. What is drafted or kept beside
    it is there, too, and so it is there whenever the question is.
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
    leases: Leases
    budgets: Budgets
    roster: Roster
    drafts: Drafts
    documents: Documents
    errands: Errands
    uses: Uses
    log: BranchLog
    checkup: Checkup
    inbox: Inbox

    @property
    def cells(self) -> Mapping[str, Backend]:
        """The stores that this one is made of, by their names; none where it is one store."""
        return {}

    @property
    def away(self) -> Sequence[str]:
        """The cells that did not answer when all of them were asked last: something of them may
        be missing in what was told then.
        """
        return ()

    def at(self, run: RunRef) -> Backend:  # noqa: ARG002
        """Where the run's session lives, with an inbox of its own."""
        return self
