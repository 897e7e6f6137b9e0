"""Leases, and where chats have moved, in the memory of one process."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sayso.chats.places import Place
from sayso.clock import Clock


class MemoryLeases:
    """Leases between the tasks of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, tuple[str, datetime]] = {}
        self._places: dict[Place, Place] = {}

    async def ping(self) -> None:
        """Return when the store answers: at once."""

    async def hold(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or keep a lease: at most one owner has it at a time."""
        now = self._clock()
        holder, until = self._held.get(name, (owner, now))
        if holder != owner and until > now:
            return False
        self._held = {name: held for name, held in self._held.items() if held[1] > now}
        self._held[name] = (owner, now + timedelta(seconds=seconds))
        return True

    async def move(self, old: Place, new: Place) -> None:
        """Remember that a chat has a new address."""
        self._places[old] = new

    async def moved(self, place: Place) -> Place:
        """Where a chat is now."""
        chat = Place(place.platform, place.address)
        if (new := self._places.get(chat)) is None:
            return place
        return replace(new, thread=place.thread)
