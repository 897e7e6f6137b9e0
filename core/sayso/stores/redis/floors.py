"""The floor in Redis, and what this process knows of it."""

from __future__ import annotations

from sayso.rules.floor import Floor, read_floor, written_floor
from sayso.stores.redis.connection import Client
from sayso.stores.redis.script import Script

_LAY = Script("floor")


class KnownFloor:
    """The last floor that this process saw: it is read again only where there is another one.

    A store that has lost all it had says of no floor at all. Then the last one
    still counts here, until there is another.
    """

    def __init__(self) -> None:
        self.last = Floor()

    def told(self, known: Floor, version: bytes, written: bytes) -> Floor:
        """The floor that a store told of, to somebody who knew this one."""
        if not version:
            return self.last
        said = version.decode()
        floor = known if said == known.version else read_floor(said, written)
        self.last = floor
        return floor


class RedisFloors:
    """Lays the floor, for half a year after the last time."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def lay(self, floor: Floor, *, unless_other: bool = False) -> str:
        """Let this be the floor; the version that is the floor now."""
        written, empty = written_floor(floor), int(not floor.sections)
        words = (floor.version, written, int(unless_other), empty)
        return await self._client.run(_LAY, *words, read=bytes.decode)
