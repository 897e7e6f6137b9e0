"""Ids in updates, which can be any JSON value."""

from __future__ import annotations

from typing import Any

from sayso.chats.places import Place
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
    """The topic: replies in groups without topics carry a thread too, which is none."""
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
