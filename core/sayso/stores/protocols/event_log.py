"""Event log: events to whoever listens now, the log of each branch, and the audit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sayso.calls import RunRef
from sayso.events import Event, Resolution
from sayso.stores.audit import AuditEntry, AuditPage, Facts, RefusalKind
from sayso.stores.branch_log import LoggedEvent, LogKind, Position


@dataclass(frozen=True, slots=True)
class Ring:
    """An ending, as an inbox hears of it.

    ``book`` is the version of the session's rules and ``at`` the time of the
    store's clock in Unix seconds, both of the atomic step that told the inbox;
    ``book`` is None where that is not known or was too long ago.
    """

    ending: Resolution
    book: str | None = None
    at: float = 0.0


class Bus(Protocol):
    """Tells subscribers of events: at most once, in order per topic. Broken means an error."""

    async def publish(self, topic: str, event: Event) -> None:
        """Tell whoever listens to the topic now.

        What is asked on a branch and how it ended is told by the store, and by nobody else.

        Raises:
            SubscriptionLostError: the bus cannot be reached.
            ValueError: it is one of the store's topics, and an event that only the store tells.
        """
        ...

    def subscribe(self, topic: str) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """The events published while the block runs.

        Raises:
            SubscriptionLostError: on entry when the bus cannot be reached, from the
                iterator when events may have been missed.
        """
        ...

    async def subscribers(self, topic: str) -> int:
        """Return the number of subscriptions that the topic has now, as far as this can be told.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        ...

    def rings(self, inbox: str) -> AbstractAsyncContextManager[AsyncIterator[Ring]]:
        """The endings that the inbox of this name is told of while the block runs.

        Raises:
            SubscriptionLostError: as for ``subscribe``.
        """
        ...


class BranchLog(Protocol):
    """The requests and resolutions of a branch, for readers that come and go.

    Its bell is a ``BranchGrewEvent`` on the bus, one topic for all branches.
    Raises StoreUnreachableError like RequestStore.
    """

    async def append(self, run: RunRef, question_id: str, kind: LogKind, event: Event) -> bool:
        """Write the event to the end of its branch and ring; one atomic step.

        A question has at most one event of each kind: False and nothing when
        it is written already, however often it is offered.

        Raises:
            RequestNotFoundError: no such request.
        """
        ...

    async def end(self, run: RunRef) -> Position:
        """The position after the newest event of the run's branch."""
        ...

    async def after(self, run: RunRef, position: Position, *, count: int) -> Sequence[LoggedEvent]:
        """The events after the position, at most ``count``, oldest first.

        They end with the one that fills ``PAGE_BYTES``: there may be more when
        ``is_full``. After ``BEGINNING`` come the oldest that are kept.

        Raises:
            EventsMissedError: events after the position are no longer kept, or
                it is not a position in this log.
        """
        ...

    async def open_questions(self, run: RunRef) -> int:
        """Return the number of the branch's requests that are logged without a resolution."""
        ...


class Audit(Protocol):
    """The audit log. Raises StoreUnreachableError like RequestStore.

    The other ports write it, except for what they have no part in: refused presses, and
    what was decided without a question. Decisions, see ``stores.audit.is_decision``, are kept
    until they are trimmed. Of the rest each agent has its own ``ACTIVITY_ENTRIES`` newest or so.
    """

    async def refuse(
        self, question_id: str, refusal: RefusalKind, *, by: str, place: str, choice: str
    ) -> bool:
        """Note that a press on a known request was refused; False where it is not noted.

        However often somebody presses, they push nothing else out: an actor is noted
        once for each kind of refusal, and a request has at most ``REFUSALS_KEPT`` of them.
        """
        ...

    async def read(
        self,
        count: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        wanted: Callable[[AuditEntry], bool] | None = None,
    ) -> Sequence[AuditEntry]:
        """Read the last entries, at most ``count``, oldest first.

        Args:
            count: how many at most.
            since: only entries of this moment or later.
            until: only entries before this moment.
            wanted: only entries of which this is true.
        """
        ...

    async def read_page(self, since: datetime | None, *, count: int) -> AuditPage:
        """Read the entries from a moment on, oldest first; the next page begins where it ends.

        Whoever reads page after page, also as more is written, reads each entry once. Entries
        of the store's current moment are left to the next page.

        Args:
            since: the first moment; None for the store's current one, and no entries.
            count: how many to read; those of the last one's moment come with it.
        """
        ...

    async def trim(self, keep: timedelta) -> None:
        """Drop the decisions that are older than this by the store's clock."""
        ...

    async def note(self, facts: Facts) -> None:
        """Write an entry on what was decided without a question, see ``stores.audit.ruled``.

        It may be there twice where the store's reply is lost on the way.
        """
        ...
