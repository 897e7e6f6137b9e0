"""Messages that reply to one of the bot's: pure reading of JSON values, whatever they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sayso_telegram.reading.ids import chat_id_of, id_of, topic_of, user_of


@dataclass(frozen=True, slots=True)
class Reply:
    """Somebody replied to a message of the bot, or edited such a reply.

    ``user_id`` is None when nobody in particular wrote it: an anonymous admin,
    a channel, a bot. ``text`` is None for a photo, a sticker and the like.
    """

    chat_id: int
    thread_id: int | None
    message_id: int
    reply_to: int | None
    user_id: int | None
    name: str = field(default="", repr=False)
    text: str | None = field(default=None, repr=False)
    is_edit: bool = False


def read_reply(message: Any, *, is_edit: bool = False) -> Reply | None:
    """The reply that a message is; None when it is none that may concern us.

    An edit counts even when it no longer says what it replies to: Telegram
    leaves that out once the message replied to is gone.
    """
    if not isinstance(message, dict):
        return None
    chat_id = chat_id_of(message)
    message_id = id_of(message.get("message_id"))
    replied = message.get("reply_to_message")
    reply_to = _bots_message(replied)
    if chat_id is None or message_id is None or (reply_to is None and not is_edit):
        return None
    sender = message.get("from")
    # Message, sender_chat: written in the name of a chat, by whomever; `from` is a stand-in then.
    user_id = None if "sender_chat" in message else user_of(sender)
    name = sender.get("first_name") if isinstance(sender, dict) else None
    text = message.get("text")
    return Reply(
        chat_id=chat_id,
        thread_id=topic_of(message),
        message_id=message_id,
        reply_to=reply_to,
        user_id=user_id,
        name=name if isinstance(name, str) else "",
        text=text if isinstance(text, str) and text else None,
        is_edit=is_edit,
    )


def _bots_message(replied: Any) -> int | None:
    """The number of the message replied to, when a bot wrote it."""
    if not isinstance(replied, dict):
        return None
    sender = replied.get("from")
    by_bot = isinstance(sender, dict) and sender.get("is_bot") is True
    return id_of(replied.get("message_id")) if by_bot else None
