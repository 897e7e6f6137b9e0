"""Updates of the Bot API, read as presses, replies, commands and changes of chats."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from telegram import CallbackQuery, ChatMemberUpdated, Message, Update, User

from sayso.chats.places import MessageRef, Place, Press
from sayso.platforms import conversation_steps
from sayso.platforms.conversation import FormPress, Reply
from sayso.platforms.conversation_steps import FormButton
from sayso_telegram.config import PLATFORM
from sayso_telegram.keyboard import read_button

# What the bot asks Telegram for, by webhook and by polling alike. message: replies that fill in a
# form, commands, and a group tells of its migration in a service message; callback_query: the
# presses; my_chat_member: somebody blocked or removed the bot.
ALLOWED_UPDATES = ("message", "callback_query", "my_chat_member")

# User, id and Chat, id: at most 52 significant bits.
_ID_LIMIT = 2**52
_MAX_QUERY_ID = 256
_GONE = ("left", "kicked")
_PENDING = re.compile(r"/pending(?:@(?P<bot>[A-Za-z0-9_]{1,64}))?(?:\s.*)?", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class PendingCommand:
    """``/pending``: somebody asks what waits for them; ``bot`` is whom they named, if anybody.

    It is private where only they and the bot are in the chat.
    """

    actor: str
    message: MessageRef
    is_private: bool
    bot: str = ""


@dataclass(frozen=True, slots=True)
class MigratedChat:
    """A group became a supergroup and has a new address."""

    old: Place
    new: Place


@dataclass(frozen=True, slots=True)
class BotRemoved:
    """The bot was blocked in or removed from a chat: nothing can be shown there."""

    place: Place


@dataclass(frozen=True, slots=True)
class IgnoredUpdate:
    """Not a press. A callback query still has to be answered: ``query_id`` says which.

    ``place`` is the chat of the button, as far as that is known.
    """

    reason: str
    query_id: str = field(default="", repr=False)
    place: Place = field(default=Place(PLATFORM, ""), compare=False)


ParsedUpdate = (
    Press | FormPress | Reply | PendingCommand | MigratedChat | BotRemoved | IgnoredUpdate
)


def parse_update(document: Any) -> ParsedUpdate:
    """Read an update. Never raises, whatever JSON value it is.

    A press carries the id of its callback query as its ticket. It has no
    delivery id: Telegram delivers until it is told to stop, and settling the
    same press twice changes nothing.
    """
    if not isinstance(document, dict):
        return IgnoredUpdate("no_object")
    update = _build_update(document)
    if update is None:
        return IgnoredUpdate("unreadable")
    if "callback_query" in document:
        return _parse_query(update.callback_query)
    if update.message is not None:
        return _parse_message(update.message)
    if update.my_chat_member is not None:
        return _parse_membership(update.my_chat_member)
    return IgnoredUpdate("not_a_press")


def update_id(document: Any) -> int | None:
    """The number of the update, if it has one."""
    number = document.get("update_id") if isinstance(document, dict) else None
    return number if type(number) is int else None


def chat_place(chat_id: int, thread_id: int | None = None) -> Place:
    """The chat, and the topic where there is one."""
    return Place(PLATFORM, str(chat_id), str(thread_id) if thread_id else "")


def _build_update(document: dict[str, Any]) -> Update | None:
    """Build python-telegram-bot's update, without all that is not read where that does not do.

    ``Update.de_json`` raises for one odd field anywhere, such as a sticker in the pressed message:
    no press may be lost to that. Nor does it miss a chat or a member that Telegram always sends.
    """
    update = _try_build(document)
    if update is not None and _is_whole(update):
        return update
    return _try_build(_reduce_update(document))


def _is_whole(update: Update) -> bool:
    """True where the objects are there that are read without a look at them."""
    change = update.my_chat_member
    pressed = update.callback_query.message if update.callback_query else None
    chats = [one.chat for one in (update.message, pressed, change) if one is not None]
    return None not in chats and (change is None or change.new_chat_member is not None)


def _try_build(document: dict[str, Any]) -> Update | None:
    try:
        return Update.de_json(document, None)
    except Exception:
        return None


def _reduce_update(document: dict[str, Any]) -> dict[str, Any]:
    reduced: dict[str, Any] = {"update_id": document.get("update_id")}
    if isinstance(query := document.get("callback_query"), dict):
        kept = {name: query[name] for name in ("id", "data") if name in query}
        sender, message = (_reduce_user(query.get("from")), _reduce_message(query.get("message")))
        reduced["callback_query"] = {**kept, "from": sender, "message": message}
        reduced["callback_query"]["chat_instance"] = ""
    if message := _reduce_message(document.get("message")):
        message["reply_to_message"] = _reduce_message(document["message"].get("reply_to_message"))
        reduced["message"] = message
    return reduced


def _reduce_user(user: Any) -> dict[str, Any] | None:
    """Keep the number; who is not said to be a person is taken for a bot."""
    if not isinstance(user, dict):
        return None
    return {"id": user.get("id"), "is_bot": user.get("is_bot", True), "first_name": ""}


_MESSAGE_FIELDS = (
    "message_id",
    "text",
    "message_thread_id",
    "is_topic_message",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
)


def _reduce_message(message: Any) -> dict[str, Any] | None:
    if not isinstance(message, dict) or "message_id" not in message:
        return None
    kept = {name: message[name] for name in _MESSAGE_FIELDS if name in message}
    chat = message.get("chat")
    chat = chat if isinstance(chat, dict) else {}
    kept["chat"] = {"id": chat.get("id"), "type": chat.get("type", "")}
    kept |= {"date": 0, "from": _reduce_user(message.get("from"))}
    if "sender_chat" in message or "forward_origin" in message:
        kept["sender_chat"] = {"id": 0, "type": ""}  # no words of the sender's own
    return kept


def _parse_query(query: CallbackQuery | None) -> Press | FormPress | IgnoredUpdate:
    """Read a press; the presser is ``from``: the real person, also for anonymous admins."""
    if query is None or not isinstance(query.id, str) or not 0 < len(query.id) <= _MAX_QUERY_ID:
        return IgnoredUpdate("unreadable")
    user_id = _user_id(query.from_user)
    if user_id is None:
        return IgnoredUpdate("no_person", query.id)
    button = _parse_button(query.data)
    # An inaccessible message has a chat and a number, which is enough.
    message = query.message if isinstance(query.message, Message) else None
    ref = None if message is None else _message_ref(message)
    if button is None:
        where = {} if ref is None else {"place": ref.place}
        return IgnoredUpdate("not_our_button", query.id, **where)
    if ref is None:
        return IgnoredUpdate("no_message", query.id)
    if isinstance(button, FormButton):
        return FormPress(button, _actor(user_id), ref, ticket=query.id)
    return Press(
        handle=button.handle,
        choice=button.key,
        actor=_actor(user_id),
        message=ref,
        confirmed=button.confirmed,
        ticket=query.id,
    )


def _parse_button(data: Any) -> Any:
    if not isinstance(data, str):
        return None
    return read_button(data) or conversation_steps.read_button(data)


def _parse_message(message: Message) -> Reply | PendingCommand | MigratedChat | IgnoredUpdate:
    found = _parse_reply(message) or _parse_command(message) or _parse_migration(message)
    return found or IgnoredUpdate("not_a_press")


def _parse_reply(message: Message) -> Reply | None:
    """Read a reply to a message of a bot."""
    ref, replied = _message_ref(message), message.reply_to_message
    if ref is None or replied is None or replied.from_user is None:
        return None
    reply_to = _id(replied.message_id)
    if reply_to is None or replied.from_user.is_bot is not True:
        return None
    # Message, sender_chat: written in the name of a chat, by whomever; `from` is a stand-in then.
    user_id = _user_id(message.from_user) if message.sender_chat is None else None
    return Reply(
        message=ref,
        reply_to=str(reply_to),
        actor=None if user_id is None else _actor(user_id),
        text=message.text if isinstance(message.text, str) and message.text else None,
    )


def _parse_command(message: Message) -> PendingCommand | None:
    """Read ``/pending`` of a person; forwarded words are nobody's command."""
    if message.forward_origin is not None or message.sender_chat is not None:
        return None
    ref, user_id = _message_ref(message), _user_id(message.from_user)
    if ref is None or user_id is None or not isinstance(message.text, str):
        return None
    found = _PENDING.fullmatch(message.text)
    if found is None:
        return None
    is_private = message.chat.type == "private" and message.chat.id == user_id
    return PendingCommand(_actor(user_id), ref, is_private, found["bot"] or "")


def _parse_migration(message: Message) -> MigratedChat | None:
    """Read a migration, which is told twice: in the old chat, and in the new one."""
    here = _id(message.chat.id)
    there, before = _id(message.migrate_to_chat_id), _id(message.migrate_from_chat_id)
    if here is not None and there is not None:
        return MigratedChat(chat_place(here), chat_place(there))
    if here is not None and before is not None:
        return MigratedChat(chat_place(before), chat_place(here))
    return None


def _parse_membership(change: ChatMemberUpdated) -> BotRemoved | IgnoredUpdate:
    chat_id = change.chat.id
    # 0 stands for no chat at all, yet Telegram's own samples have it.
    if change.new_chat_member.status in _GONE and type(chat_id) is int and abs(chat_id) < _ID_LIMIT:
        return BotRemoved(chat_place(chat_id))
    return IgnoredUpdate("not_a_press")


def _message_ref(message: Message) -> MessageRef | None:
    chat_id, message_id = _id(message.chat.id), _id(message.message_id)
    if chat_id is None or message_id is None or message_id < 0:
        return None
    # Replies in groups without topics carry a thread too, which is not one.
    topic = _id(message.message_thread_id) if message.is_topic_message else None
    return MessageRef(chat_place(chat_id, topic), str(message_id))


def _id(value: Any) -> int | None:
    """The value as an id; bool is an int to Python and not to us."""
    return value if type(value) is int and 0 < abs(value) < _ID_LIMIT else None


def _user_id(user: User | None) -> int | None:
    """The number of a person; None for a bot."""
    if user is None or user.is_bot is not False:
        return None
    number = _id(user.id)
    return None if number is None or number < 0 else number


def _actor(user_id: int) -> str:
    """The person as the core knows them."""
    return f"{PLATFORM}:{user_id}"
