"""Texts that are changed only by whoever knows what they say, in Redis."""

from __future__ import annotations

from datetime import datetime

from sayso.stores.redis.client import Client, Script
from sayso.stores.redis.records import moment

_SWAP, _NOW = Script("document"), Script("now")


class RedisDocuments:
    """Documents end by the server's clock."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, key: str, *, keep: float | None = None) -> str | None:
        """The text under the key, None when there is none."""
        name = self._client.keys.document(key)
        life = () if keep is None else ("PX", round(keep * 1000))
        found: bytes | None = await self._client.command("GETEX", name, *life)
        return None if found is None else found.decode()

    async def swap(self, key: str, before: str | None, after: str, *, seconds: float) -> bool:
        """Keep a text for this long in the place of another one."""
        had = int(before is not None)
        life = max(1, round(seconds * 1000))
        return bool(await self._client.run(_SWAP, key, had, before or "", after, life))

    async def now(self) -> datetime:
        """The time by the server's clock."""
        return moment(await self._client.run(_NOW))
