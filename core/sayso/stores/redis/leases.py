"""Small facts shared by all processes, in Redis."""

from __future__ import annotations

from dataclasses import replace

from sayso.chats.places import Place
from sayso.stores.redis.connection import Client
from sayso.stores.redis.keys import MOVED_SECONDS
from sayso.stores.redis.replies import flag, number, optional_text
from sayso.stores.redis.script import Script

_HOLD = Script("hold")


class RedisLeases:
    """Leases end by the server's clock; a new address lives half a year after its last use."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ping(self) -> None:
        """Return when the store answers."""
        await self._client.command("EXISTS", self._client.keys.nothing, read=number)

    async def hold(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or keep a lease: at most one owner has it at a time."""
        milliseconds = max(1, round(seconds * 1000))
        return await self._client.run(_HOLD, name, owner, milliseconds, read=flag)

    async def move(self, old: Place, new: Place) -> None:
        """Remember that a chat has a new address."""
        key = self._client.keys.moved(_chat(old))
        await self._client.command("SET", key, _chat(new), "EX", MOVED_SECONDS)

    async def moved(self, place: Place) -> Place:
        """Where a chat is now."""
        key = self._client.keys.moved(_chat(place))
        words = ("GETEX", key, "EX", MOVED_SECONDS)
        address = await self._client.command(*words, read=optional_text)
        return place if address is None else replace(Place.parse(address), thread=place.thread)


def _chat(place: Place) -> str:
    return str(Place(place.platform, place.address))
