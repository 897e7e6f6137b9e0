"""Commands that people write to the bot: pure reading of JSON values, whatever they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sayso.chats.places import MessageRef
from sayso_telegram.addresses import actor_of, chat_id_of, chat_place, id_of, topic_of, user_of

_PENDING = re.compile(r"/pending(?:@(?P<bot>[A-Za-z0-9_]{1,64}))?(?:\s.*)?", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pending:
    """Somebody asks what waits for them; ``bot`` is whom they named, where they named one.

    It is private where only they and the bot are in the chat.
    """

    actor: str
    message: MessageRef
    is_private: bool
    bot: str = ""


def read_command(message: Any) -> Pending | None:
    """The command in a message; None where it is none of ours, or nobody's in particular."""
    if not isinstance(message, dict) or "forward_origin" in message or "sender_chat" in message:
        return None
    text, chat_id = message.get("text"), chat_id_of(message)
    number, user_id = id_of(message.get("message_id")), user_of(message.get("from"))
    if not isinstance(text, str) or None in (chat_id, number, user_id):
        return None
    found = _PENDING.fullmatch(text)
    if found is None or chat_id is None or user_id is None:
        return None
    chat = message["chat"]
    is_private = chat.get("type") == "private" and chat_id == user_id
    where = MessageRef(chat_place(chat_id, topic_of(message)), str(number))
    return Pending(actor_of(user_id), where, is_private, found["bot"] or "")
