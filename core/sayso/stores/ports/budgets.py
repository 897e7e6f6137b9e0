"""What platforms take in a time, shared by all processes that post."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sayso.chats.budgets import Budget


class Budgets(Protocol):
    """Budgets of messages. Raises StoreUnreachableError like Store."""

    async def reserve(self, budgets: Sequence[Budget]) -> float:
        """In how many seconds the next message of all these budgets may go; that moment is taken.

        No other caller gets a moment with which one of them would be overdrawn.
        """
        ...
