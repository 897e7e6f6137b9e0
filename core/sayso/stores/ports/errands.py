"""Things to be done later, by any process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done now, and in how many seconds the next one is; None without one."""

    names: Sequence[str]
    next_in: float | None


class Errands(Protocol):
    """Names in queues, each due at a time. At least once, each with one process at a time.

    Raises StoreUnreachableError like Store.
    """

    async def put(self, queue: str, name: str, *, seconds: float = 0.0) -> None:
        """Let the name be due in so many seconds, instead of whenever it was due before."""
        ...

    async def take(self, queue: str, *, most: int, hold: float) -> Due:
        """What is due, the first of it; due again in ``hold`` seconds unless it is done by then."""
        ...

    async def done(self, queue: str, name: str) -> None:
        """It is done, and will not come again."""
        ...
