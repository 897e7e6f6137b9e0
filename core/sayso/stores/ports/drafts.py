"""What is half done, for another process to go on with."""

from __future__ import annotations

from typing import Protocol


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
