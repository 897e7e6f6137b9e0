"""Chats that moved to another address, as some do when they grow."""

from __future__ import annotations

from dataclasses import replace

from sayso.chats.places import Place
from sayso.stores.protocols.key_value import KeyValueStore

# A platform names the new address again whenever a message goes to the old one.
_KNOWN_SECONDS = 180 * 86_400


async def note_chat_move(key_value: KeyValueStore, old: Place, new: Place) -> None:
    """Remember for half a year that a chat has a new address.

    Raises:
        StoreUnreachableError: it may not be remembered.
    """
    await key_value.set(f"moved:{_chat(old)}", _chat(new), seconds=_KNOWN_SECONDS)


async def find_chat(key_value: KeyValueStore, place: Place) -> Place:
    """Return the place that a chat is at now, in the same thread.

    Raises:
        StoreUnreachableError: nobody knows where it is.
    """
    address = await key_value.get(f"moved:{_chat(place)}")
    return place if address is None else replace(Place.parse(address), thread=place.thread)


def _chat(place: Place) -> str:
    return str(Place(place.platform, place.address))
