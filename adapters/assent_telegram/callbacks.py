"""Updates as presses: pure reading of JSON values, whatever they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from assent.places import MessageRef, Place, Press
from assent_telegram.buttons import read_button
from assent_telegram.failures import PLATFORM

# User, id and Chat, id: at most 52 significant bits.
_LARGEST_ID = 2**52
_MOST_QUERY_ID = 256
_GONE = ("left", "kicked")


@dataclass(frozen=True, slots=True)
class Moved:
    """A group became a supergroup and has a new address."""

    old: Place
    new: Place


@dataclass(frozen=True, slots=True)
class Barred:
    """The bot was blocked in or removed from a chat: nothing can be shown there."""

    place: Place


@dataclass(frozen=True, slots=True)
class Nothing:
    """Not a press. A callback query still has to be answered: ``query_id`` says which."""

    reason: str
    query_id: str = field(default="", repr=False)


def read_update(update: Any) -> Press | Moved | Barred | Nothing:
    """What an update says. Never raises, whatever JSON value it is.

    A press carries the id of its callback query as its ticket. It has no
    delivery id: Telegram delivers until it is told to stop, and settling the
    same press twice changes nothing.
    """
    if not isinstance(update, dict):
        return Nothing("no_object")
    if "callback_query" in update:
        return _query(update["callback_query"])
    if isinstance(message := update.get("message"), dict):
        return _service_message(message)
    if isinstance(change := update.get("my_chat_member"), dict):
        return _membership(change)
    return Nothing("not_a_press")


def _query(query: Any) -> Press | Nothing:
    """The presser is ``from``: always the real person, also for anonymous admins."""
    if not isinstance(query, dict):
        return Nothing("unreadable")
    query_id = query.get("id")
    if not isinstance(query_id, str) or not 0 < len(query_id) <= _MOST_QUERY_ID:
        return Nothing("unreadable")
    actor = _person(query.get("from"))
    if actor is None:
        return Nothing("no_person", query_id)
    data = query.get("data")
    button = read_button(data) if isinstance(data, str) else None
    if button is None:
        return Nothing("not_our_button", query_id)
    ref = _message(query.get("message"))
    if ref is None:
        return Nothing("no_message", query_id)
    return Press(
        handle=button.handle,
        choice=button.key,
        actor=actor,
        message=ref,
        confirmed=button.confirmed,
        ticket=query_id,
    )


def _person(sender: Any) -> str | None:
    if not isinstance(sender, dict) or sender.get("is_bot") is not False:
        return None
    user_id = _id(sender.get("id"))
    return None if user_id is None or user_id < 0 else f"{PLATFORM}:{user_id}"


def _message(message: Any) -> MessageRef | None:
    """Where the button stands. An inaccessible message has a chat and a number, which is enough."""
    if not isinstance(message, dict):
        return None
    chat_id = _chat_id(message)
    message_id = _id(message.get("message_id"))
    if chat_id is None or message_id is None or message_id < 0:
        return None
    # In a group without topics, replies carry message_thread_id too: it is no topic there.
    thread_id = _id(message.get("message_thread_id")) if message.get("is_topic_message") else None
    thread = str(thread_id) if thread_id else ""
    return MessageRef(Place(PLATFORM, str(chat_id), thread), str(message_id))


def _service_message(message: dict[str, Any]) -> Moved | Nothing:
    """A migration is told twice: in the old chat, and in the new one."""
    here = _chat_id(message)
    there = _id(message.get("migrate_to_chat_id"))
    before = _id(message.get("migrate_from_chat_id"))
    if here is not None and there is not None:
        return Moved(_place(here), _place(there))
    if here is not None and before is not None:
        return Moved(_place(before), _place(here))
    return Nothing("not_a_press")


def _membership(change: dict[str, Any]) -> Barred | Nothing:
    chat = change.get("chat")
    now = change.get("new_chat_member")
    if isinstance(chat, dict) and isinstance(now, dict) and now.get("status") in _GONE:
        chat_id = chat.get("id")
        # 0 stands for no chat at all, yet Telegram's own samples have it.
        if type(chat_id) is int and abs(chat_id) < _LARGEST_ID:
            return Barred(_place(chat_id))
    return Nothing("not_a_press")


def _chat_id(message: dict[str, Any]) -> int | None:
    chat = message.get("chat")
    return _id(chat.get("id")) if isinstance(chat, dict) else None


def _id(value: Any) -> int | None:
    """The value as an id; bool is an int to Python and not to us."""
    return value if type(value) is int and 0 < abs(value) < _LARGEST_ID else None


def _place(chat_id: int) -> Place:
    return Place(PLATFORM, str(chat_id))
