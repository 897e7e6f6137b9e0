"""Budgets of messages in the memory of one process."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from sayso.chats.budgets import Budget, next_moment
from sayso.clock import Clock


class MemoryBudgets:
    """The moments that are taken, as long as they count."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._taken: dict[str, list[float]] = {}
        self._over: dict[str, float] = {}

    async def reserve(self, budgets: Sequence[Budget]) -> float:
        """In how many seconds the next message may go; that moment is taken."""
        now = self._clock().timestamp()
        for name in [name for name, over in self._over.items() if over <= now]:
            del self._taken[name], self._over[name]
        taken = [self._taken.setdefault(budget.name, []) for budget in budgets]
        for moments, budget in zip(taken, budgets, strict=True):
            del moments[: bisect_right(moments, now - budget.rate.seconds)]
        moment = next_moment(
            now, [(budget.rate, moments) for budget, moments in zip(budgets, taken, strict=True)]
        )
        for moments, budget in zip(taken, budgets, strict=True):
            insort(moments, moment)
            self._over[budget.name] = moments[-1] + budget.rate.seconds
        return moment - now
