"""Texts that are changed only by whoever knows what they say, in Redis."""

from __future__ import annotations

from sayso.stores.redis.connection import Client
from sayso.stores.redis.replies import flag, optional_text
from sayso.stores.redis.script import Script

_SWAP = Script("document")


class RedisDocuments:
    """Documents end by the server's clock."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, key: str) -> str | None:
        """The text under the key, None when there is none."""
        name = self._client.keys.document(key)
        return await self._client.command("GET", name, read=optional_text)

    async def swap(self, key: str, before: str | None, after: str, *, seconds: float) -> bool:
        """Keep a text for this long in the place of another one."""
        had = int(before is not None)
        life = max(1, round(seconds * 1000))
        return await self._client.run(_SWAP, key, had, before or "", after, life, read=flag)
