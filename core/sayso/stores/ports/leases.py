"""Who has a lease, and where chats have moved: small facts that processes share."""

from __future__ import annotations

from typing import Protocol

from sayso.chats.places import Place


class Leases(Protocol):
    """Small facts shared by all processes. Raises StoreUnreachableError like Store."""

    async def ping(self) -> None:
        """Return when the store answers."""
        ...

    async def hold(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or keep a lease: at most one owner has it at a time."""
        ...

    async def move(self, old: Place, new: Place) -> None:
        """Remember that a chat has a new address."""
        ...

    async def moved(self, place: Place) -> Place:
        """Where a chat is now: the place itself unless it moved."""
        ...
