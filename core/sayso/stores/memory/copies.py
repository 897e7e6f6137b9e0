"""Card handles in the memory of one process."""

from __future__ import annotations

from sayso.events import RequestEnding
from sayso.stores.memory.records import Records
from sayso.stores.ports import Copy, Found


class MemoryCopies:
    """Handles live as long as their request; deliveries are remembered for ten minutes."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def issue(self, copy: Copy) -> None:
        """Bind a new handle to its request and place.

        Raises:
            UnknownRequestError: no such request.
        """
        self._records.bind(copy)

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown."""
        self._records.refuse_again(delivery)
        entry = self._records.behind(handle)
        if entry is None:
            return None
        record = self._records.record(entry)
        return Found(entry.copies[handle], record.request, record.ending)

    async def mark(self, copy: Copy) -> RequestEnding | None:
        """Note the message a copy became and whether all of it was shown.

        Raises:
            UnknownRequestError: no such request.
        """
        entry = self._records.get(copy.question_id)
        entry.copies[copy.handle] = copy
        return entry.ending
