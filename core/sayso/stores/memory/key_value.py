"""Key-value store in the memory of one process."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from datetime import datetime, timedelta

from sayso.chats.budgets import Budget, next_moment
from sayso.clock import Clock
from sayso.stores.protocols import check_entry, check_key_kind


class MemoryKeyValue:
    """Texts, leases and reserved moments of one process, until their time is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._texts: dict[str, tuple[str, datetime]] = {}
        self._reserved: dict[str, list[float]] = {}
        self._reserved_until: dict[str, float] = {}

    async def get(self, key: str) -> str | None:
        """Return the text under the key, None without one."""
        return self._get(check_key_kind(key))

    async def set(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for so many seconds."""
        check_entry(check_key_kind(key), text, seconds=seconds)
        self._set(key, text, seconds)

    async def compare_and_set(
        self, key: str, before: str | None, after: str, *, seconds: float
    ) -> bool:
        """Keep ``after`` in the place of ``before``; True also when it is there already."""
        return self._compare_and_set(check_key_kind(key), before, after, seconds)

    async def acquire_lease(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or renew a lease; False while another owner has it."""
        return self._compare_and_set(f"lease:{name}", None, owner, seconds)

    async def reserve_rate(self, budgets: Sequence[Budget]) -> float:
        """Reserve the next moment that breaks none of the budgets."""
        now = self._clock().timestamp()
        for name in [name for name, until in self._reserved_until.items() if until <= now]:
            del self._reserved[name], self._reserved_until[name]
        reserved = [self._reserved.setdefault(budget.name, []) for budget in budgets]
        for moments, budget in zip(reserved, budgets, strict=True):
            del moments[: bisect_right(moments, now - budget.rate.seconds)]
        moment = next_moment(
            now,
            [(budget.rate, moments) for budget, moments in zip(budgets, reserved, strict=True)],
        )
        for moments, budget in zip(reserved, budgets, strict=True):
            insort(moments, moment)
            self._reserved_until[budget.name] = moments[-1] + budget.rate.seconds
        return moment - now

    def _get(self, key: str) -> str | None:
        now = self._clock()
        text, until = self._texts.get(key, ("", now))
        return text if until > now else None

    def _set(self, key: str, text: str, seconds: float) -> None:
        now = self._clock()
        self._texts = {key: kept for key, kept in self._texts.items() if kept[1] > now}
        self._texts[key] = text, now + timedelta(seconds=seconds)

    def _compare_and_set(self, key: str, before: str | None, after: str, seconds: float) -> bool:
        check_entry(key, before, after, seconds=seconds)
        if self._get(key) not in (before, after):
            return False
        self._set(key, after, seconds)
        return True
