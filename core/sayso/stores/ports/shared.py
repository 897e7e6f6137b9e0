"""Small things that processes share: leases, moved chats and drafts."""

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


class Drafts(Protocol):
    """What is half done, for any process to go on with. Raises StoreUnreachableError like Store."""

    async def keep(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for this long, in place of what was there."""
        ...

    async def read(self, key: str) -> str | None:
        """The text under the key, None when there is none."""
        ...

    async def take(self, key: str) -> str | None:
        """The text under the key, which is then gone: only one caller gets it."""
        ...
