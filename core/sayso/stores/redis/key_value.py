"""Key-value store in Redis: a string for each text and lease, by the server's clock."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.chats.budgets import Budget
from sayso.stores.protocols import check_entry, check_key_kind
from sayso.stores.redis.connection import Client
from sayso.stores.redis.replies import flag, number, optional_text
from sayso.stores.redis.script import Script

_COMPARE_AND_SET, _RESERVE_RATE = Script("compare_and_set"), Script("reserve_rate")


class RedisKeyValue:
    """Texts, leases and reserved moments of all processes, until their time is over."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, key: str) -> str | None:
        """Return the text under the key, None without one."""
        name = self._client.keys.prefix + check_key_kind(key)
        return await self._client.command("GET", name, read=optional_text)

    async def set(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for so many seconds."""
        name = self._client.keys.prefix + check_key_kind(key)
        check_entry(key, text, seconds=seconds)
        await self._client.command("SET", name, text, "PX", _milliseconds(seconds))

    async def compare_and_set(
        self, key: str, before: str | None, after: str, *, seconds: float
    ) -> bool:
        """Keep ``after`` in the place of ``before``; True also when it is there already."""
        return await self._compare_and_set(check_key_kind(key), before, after, seconds)

    async def acquire_lease(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or renew a lease; False while another owner has it."""
        return await self._compare_and_set(f"lease:{name}", None, owner, seconds)

    async def reserve_rate(self, budgets: Sequence[Budget]) -> float:
        """Reserve the next moment that breaks none of the budgets.

        When the reply is lost on the way and the script sent again, it is still the same moment.
        """
        limits: list[str | int] = []
        for budget in budgets:
            limits += [budget.name, budget.rate.count, round(budget.rate.seconds * 1000)]
        token = self._client.token()
        milliseconds = await self._client.run(_RESERVE_RATE, token, *limits, read=number)
        return milliseconds / 1000

    async def _compare_and_set(
        self, key: str, before: str | None, after: str, seconds: float
    ) -> bool:
        check_entry(key, before, after, seconds=seconds)
        has_before = int(before is not None)
        words = (key, has_before, before or "", after, _milliseconds(seconds))
        return await self._client.run(_COMPARE_AND_SET, *words, read=flag)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
