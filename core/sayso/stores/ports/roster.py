"""Which desks are at work: whether anybody would show a question."""

from __future__ import annotations

from typing import Protocol


class Roster(Protocol):
    """The desks at work. Raises StoreUnreachableError like Store.

    What it says is for people to read: nothing is decided on it.
    """

    async def join(self, desk: str, *, seconds: float) -> None:
        """The desk of this name is at work for so long; it says so again to stay."""
        ...

    async def leave(self, desk: str) -> None:
        """The desk has stopped."""
        ...

    async def count(self) -> int:
        """How many desks are at work."""
        ...
