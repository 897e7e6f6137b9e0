"""Places and messages as the numbers that Telegram knows them by."""

from __future__ import annotations

from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso_telegram.failures import PLATFORM


def chat_of(place: Place) -> tuple[int, int | None]:
    """The chat's number and the topic's, if there is one.

    Raises:
        DeliveryError: the address is not a number.
    """
    try:
        return int(place.address), int(place.thread) if place.thread else None
    except ValueError:
        reason = f"{place} is not a chat: use its number, such as telegram:-1001234567890"
        raise DeliveryError(PLATFORM, reason, permanent=True) from None


def number_of(message_id: str) -> int:
    """The number of a message.

    Raises:
        DeliveryError: it is none.
    """
    try:
        return int(message_id)
    except ValueError:
        reason = f"{message_id!r} is not the number of a message"
        raise DeliveryError(PLATFORM, reason, permanent=True) from None
