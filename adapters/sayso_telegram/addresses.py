"""Places, messages and people as the numbers that Telegram knows them by, and back."""

from __future__ import annotations

from typing import Any

from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso_telegram.failures import PLATFORM

# User, id and Chat, id: at most 52 significant bits.
LARGEST_ID = 2**52


def id_of(value: Any) -> int | None:
    """The value as an id; bool is an int to Python and not to us."""
    return value if type(value) is int and 0 < abs(value) < LARGEST_ID else None


def chat_id_of(message: dict[str, Any]) -> int | None:
    """The number of the chat that a message stands in."""
    chat = message.get("chat")
    return id_of(chat.get("id")) if isinstance(chat, dict) else None


def topic_of(message: dict[str, Any]) -> int | None:
    """The topic. Replies in groups without topics carry a thread too, which is not one."""
    return id_of(message.get("message_thread_id")) if message.get("is_topic_message") else None


def user_of(sender: Any) -> int | None:
    """The number of a person; None for a bot and for whatever else stands there."""
    if not isinstance(sender, dict) or sender.get("is_bot") is not False:
        return None
    user_id = id_of(sender.get("id"))
    return None if user_id is None or user_id < 0 else user_id


def actor_of(user_id: int) -> str:
    """The person as the desk knows them."""
    return f"{PLATFORM}:{user_id}"


def chat_place(chat_id: int, thread_id: int | None = None) -> Place:
    """The chat, and the topic where there is one."""
    return Place(PLATFORM, str(chat_id), str(thread_id) if thread_id else "")


def user_id_of(actor: str) -> int:
    """The number of the person whom the desk knows as this.

    Raises:
        DeliveryError: the actor is not somebody on Telegram.
    """
    return number_of(actor.removeprefix(f"{PLATFORM}:"))


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
        DeliveryError: it is not a number.
    """
    try:
        return int(message_id)
    except ValueError:
        reason = f"{message_id!r} is not a number of Telegram's"
        raise DeliveryError(PLATFORM, reason, permanent=True) from None
