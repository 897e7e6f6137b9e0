"""Half-done things in Redis, for any process to go on with."""

from __future__ import annotations

from sayso.stores.redis.connection import Client
from sayso.stores.redis.replies import optional_text


class RedisDrafts:
    """Drafts end by the server's clock."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def keep(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for this long."""
        milliseconds = max(1, round(seconds * 1000))
        name = self._client.keys.draft(key)
        await self._client.command("SET", name, text, "PX", milliseconds)

    async def read(self, key: str) -> str | None:
        """The text under the key, None when there is none."""
        name = self._client.keys.draft(key)
        return await self._client.command("GET", name, read=optional_text)

    async def take(self, key: str) -> str | None:
        """The text under the key, which is then gone."""
        name = self._client.keys.draft(key)
        # Not repeated when its reply is lost: the second time would find nothing and say so.
        return await self._client.command("GETDEL", name, repeatable=False, read=optional_text)
