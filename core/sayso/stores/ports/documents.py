"""Texts that are changed only by whoever knows what they say."""

from __future__ import annotations

from typing import Protocol


class Documents(Protocol):
    """Texts by their keys. Raises StoreUnreachableError like Store."""

    async def read(self, key: str) -> str | None:
        """The text under the key, None when there is none."""
        ...

    async def swap(self, key: str, before: str | None, after: str, *, seconds: float) -> bool:
        """Keep a text for this long in the place of another one, of None where there is none.

        One atomic step; False when the text is another one by now. Whoever
        finds there what they wanted to keep has kept it.
        """
        ...
