"""The log of a branch, for readers that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sayso.calls import RunRef
from sayso.events import Event
from sayso.stores.branch_log import LoggedEvent, LogKind, Position


class BranchLog(Protocol):
    """What was asked on a branch and how it ended, for readers that come and go.

    Its bell is a ``BranchGrewEvent`` on the bus, one topic for all branches.
    Raises StoreUnreachableError like Store.
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
        """How many questions of the branch are logged without their endings."""
        ...
