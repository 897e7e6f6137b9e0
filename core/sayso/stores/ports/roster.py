"""Which desks are at work: whether anybody would show a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class OpenLimits:
    """The most requests open at once, of an agent and of a token; 0 is as many as come."""

    per_agent: int = 0
    per_token: int = 0


NO_LIMITS = OpenLimits()


class Roster(Protocol):
    """The desks at work. Raises StoreUnreachableError like Store.

    Where nobody is at work, a request that waits ends *undeliverable*. Nothing is approved on it.
    """

    async def join(self, desk: str, *, seconds: float, limits: OpenLimits | None = None) -> None:
        """The desk of this name is at work for so long; it says so again to stay.

        From now on ``Store.open`` keeps these limits, until a desk brings others, or for half
        a year. Without any, those stay that a desk brought before.
        """
        ...

    async def leave(self, desk: str) -> None:
        """The desk has stopped."""
        ...

    async def count(self) -> int:
        """How many desks are at work."""
        ...
