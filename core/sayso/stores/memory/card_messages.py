"""Card handles in the memory of one process."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sayso.stores.memory.records import Records
from sayso.stores.protocols import KEPT, Copy, Found, Marked


class MemoryCopies:
    """Handles live as long as their request; deliveries are remembered for ten minutes."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def issue(self, copy: Copy, *, keep: timedelta = KEPT) -> None:
        """Bind a new handle to its request and place.

        Raises:
            RequestNotFoundError: no such request.
        """
        self._records.bind(copy, keep)

    async def drop(self, copy: Copy) -> None:
        """Forget an intention that was not carried out."""
        self._records.unbind(copy)

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown."""
        self._records.refuse_again(delivery)
        entry = self._records.behind(handle)
        if entry is None:
            return None
        record = self._records.record(entry)
        return Found(
            entry.copies[handle], record.request, record.ending, record.use, record.revoked
        )

    async def mark(self, copy: Copy) -> Marked:
        """Note the message a copy became and whether all of it was shown: what was, stays so.

        Raises:
            RequestNotFoundError: no such request.
        """
        entry = self._records.get(copy.question_id)
        before = entry.copies.get(copy.handle)
        closed_at = before.closed_at if before is not None else None
        is_named_now = copy.message_id and not (before is not None and before.message_id)
        others = (other for other in entry.copies.values() if other.handle != copy.handle)
        if (
            entry.ending is None
            and is_named_now
            and any(other.stands and other.target == copy.target for other in others)
        ):
            closed_at = self._records.now()
        revealed = copy.revealed or (before is not None and before.revealed)
        entry.copies[copy.handle] = replace(copy, closed_at=closed_at, revealed=revealed)
        return Marked(entry.ending, closed_at)
