"""Messages that reply to one of the bot's: pure reading of JSON values, whatever they are."""

from __future__ import annotations

from typing import Any

from sayso.chats.places import MessageRef
from sayso.platforms.conversation import Reply
from sayso_telegram.addresses import actor_of, chat_id_of, chat_place, id_of, topic_of, user_of


def read_reply(message: Any) -> Reply | None:
    """Return the message as a reply; None when it is not one that may concern us."""
    if not isinstance(message, dict):
        return None
    chat_id = chat_id_of(message)
    message_id = id_of(message.get("message_id"))
    replied = message.get("reply_to_message")
    reply_to = _bots_message(replied)
    if chat_id is None or message_id is None or reply_to is None:
        return None
    # Message, sender_chat: written in the name of a chat, by whomever; `from` is a stand-in then.
    user_id = None if "sender_chat" in message else user_of(message.get("from"))
    text = message.get("text")
    return Reply(
        message=MessageRef(chat_place(chat_id, topic_of(message)), str(message_id)),
        reply_to=str(reply_to),
        actor=None if user_id is None else actor_of(user_id),
        text=text if isinstance(text, str) and text else None,
    )


def _bots_message(replied: Any) -> int | None:
    """The number of the message replied to, when a bot wrote it."""
    if not isinstance(replied, dict):
        return None
    sender = replied.get("from")
    by_bot = isinstance(sender, dict) and sender.get("is_bot") is True
    return id_of(replied.get("message_id")) if by_bot else None
