"""Updates as presses: pure reading of JSON values, whatever they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sayso.chats.places import MessageRef, Place, Press
from sayso.platforms import conversation_steps
from sayso.platforms.conversation import FormPress, Reply
from sayso.platforms.conversation_steps import FormButton
from sayso_telegram.addresses import (
    LARGEST_ID,
    actor_of,
    chat_id_of,
    chat_place,
    id_of,
    topic_of,
    user_of,
)
from sayso_telegram.reading.buttons import read_button
from sayso_telegram.reading.commands import Pending, read_command
from sayso_telegram.reading.replies import read_reply

# What the bot asks Telegram for, by webhook and by polling alike. message: replies that fill in a
# form, commands, and a group tells of its migration in a service message; callback_query: the
# presses; my_chat_member: somebody blocked or removed the bot.
ALLOWED_UPDATES = ("message", "callback_query", "my_chat_member")

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
    """Not a press. A callback query still has to be answered: ``query_id`` says which.

    ``place`` is where the button stands, as far as that is said.
    """

    reason: str
    query_id: str = field(default="", repr=False)
    place: Place = field(default=Place("telegram", ""), compare=False)


def read_update(update: Any) -> Press | FormPress | Reply | Pending | Moved | Barred | Nothing:
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
        return read_reply(message) or read_command(message) or _service_message(message)
    if isinstance(change := update.get("my_chat_member"), dict):
        return _membership(change)
    return Nothing("not_a_press")


def _query(query: Any) -> Press | FormPress | Nothing:
    """The presser is ``from``: always the real person, also for anonymous admins."""
    if not isinstance(query, dict):
        return Nothing("unreadable")
    query_id = query.get("id")
    if not isinstance(query_id, str) or not 0 < len(query_id) <= _MOST_QUERY_ID:
        return Nothing("unreadable")
    user_id = user_of(query.get("from"))
    if user_id is None:
        return Nothing("no_person", query_id)
    data = query.get("data")
    button = (
        (read_button(data) or conversation_steps.read_button(data))
        if isinstance(data, str)
        else None
    )
    ref = _message(query.get("message"))
    if button is None:
        where = {} if ref is None else {"place": ref.place}
        return Nothing("not_our_button", query_id, **where)
    if ref is None:
        return Nothing("no_message", query_id)
    if isinstance(button, FormButton):
        return FormPress(button, actor_of(user_id), ref, ticket=query_id)
    return Press(
        handle=button.handle,
        choice=button.key,
        actor=actor_of(user_id),
        message=ref,
        confirmed=button.confirmed,
        ticket=query_id,
    )


def _message(message: Any) -> MessageRef | None:
    """Where the button stands. An inaccessible message has a chat and a number, which is enough."""
    if not isinstance(message, dict):
        return None
    chat_id = chat_id_of(message)
    message_id = id_of(message.get("message_id"))
    if chat_id is None or message_id is None or message_id < 0:
        return None
    return MessageRef(chat_place(chat_id, topic_of(message)), str(message_id))


def _service_message(message: dict[str, Any]) -> Moved | Nothing:
    """A migration is told twice: in the old chat, and in the new one."""
    here = chat_id_of(message)
    there = id_of(message.get("migrate_to_chat_id"))
    before = id_of(message.get("migrate_from_chat_id"))
    if here is not None and there is not None:
        return Moved(chat_place(here), chat_place(there))
    if here is not None and before is not None:
        return Moved(chat_place(before), chat_place(here))
    return Nothing("not_a_press")


def _membership(change: dict[str, Any]) -> Barred | Nothing:
    chat = change.get("chat")
    now = change.get("new_chat_member")
    if isinstance(chat, dict) and isinstance(now, dict) and now.get("status") in _GONE:
        chat_id = chat.get("id")
        # 0 stands for no chat at all, yet Telegram's own samples have it.
        if type(chat_id) is int and abs(chat_id) < LARGEST_ID:
            return Barred(chat_place(chat_id))
    return Nothing("not_a_press")
