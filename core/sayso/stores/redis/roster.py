"""Which desks are at work, in Redis."""

from __future__ import annotations

from sayso.stores.ports import OpenLimits
from sayso.stores.redis.connection import Client
from sayso.stores.redis.replies import number
from sayso.stores.redis.script import Script

_JOIN = Script("join")
_ROSTER = Script("roster")


class RedisRoster:
    """Desks leave by the server's clock when they do not say that they stay."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def join(self, desk: str, *, seconds: float, limits: OpenLimits | None = None) -> None:
        """The desk of this name is at work for so long, with these limits."""
        milliseconds = max(1, round(seconds * 1000))
        most = () if limits is None else (limits.per_agent, limits.per_token)
        await self._client.run(_JOIN, desk, milliseconds, *most)

    async def leave(self, desk: str) -> None:
        """The desk has stopped."""
        await self._client.command("ZREM", self._client.keys.desks, desk)

    async def count(self) -> int:
        """How many desks are at work."""
        return await self._client.run(_ROSTER, read=number)
