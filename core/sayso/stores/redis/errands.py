"""Things to be done later, in Redis: a sorted set for each queue."""

from __future__ import annotations

from typing import Any

from sayso.stores.ports import Due
from sayso.stores.redis.connection import Client
from sayso.stores.redis.script import Script

_PUT, _TAKE = Script("errand"), Script("errands")


class RedisErrands:
    """Errands by the server's clock; a queue is forgotten a week after it was last looked at."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def put(
        self,
        queue: str,
        name: str,
        *,
        seconds: float = 0.0,
        about: str = "",  # noqa: ARG002
    ) -> None:
        """Let the name be due in so many seconds."""
        await self._client.run(_PUT, queue, name, round(seconds * 1000))

    async def take(self, queue: str, *, most: int, hold: float) -> Due:
        """What is due; due again in ``hold`` seconds unless it is done by then."""
        words = (queue, most, round(hold * 1000))
        return await self._client.run(_TAKE, *words, read=_read_due)

    async def done(self, queue: str, name: str) -> None:
        """It is done, and will not come again."""
        await self._client.command("ZREM", self._client.keys.errands(queue), name)


def _read_due(reply: list[Any]) -> Due:
    left, *names = reply
    return Due([name.decode() for name in names], None if left < 0 else left / 1000)
