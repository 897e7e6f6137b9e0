"""Budgets of messages in Redis: one script finds the next moment and takes it."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.chats.budgets import Budget
from sayso.stores.redis.connection import Client
from sayso.stores.redis.replies import number
from sayso.stores.redis.script import Script

_RESERVE = Script("reserve")


class RedisBudgets:
    """The moments that are taken, by the server's clock, as long as they count."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def reserve(self, budgets: Sequence[Budget]) -> float:
        """In how many seconds the next message may go; that moment is taken.

        When the answer to this call is lost on the way and the call repeated,
        it is still the same moment.
        """
        wanted: list[str | int] = []
        for budget in budgets:
            wanted += [budget.name, budget.rate.count, round(budget.rate.seconds * 1000)]
        token = self._client.token()
        milliseconds = await self._client.run(_RESERVE, token, *wanted, read=number)
        return milliseconds / 1000
