"""The bot's right to write in a chat, and the members of it, as far as Telegram says."""

from __future__ import annotations

from typing import Any


def problem_of(chat: Any, me: Any, thread_id: int | None) -> str | None:
    """Find a reason that prevents the bot from posting there; None when none is known.

    ``chat`` is what getChat said and ``me`` what getChatMember said of the
    bot. The latter is promised to administrators only: not knowing it is not
    a problem yet.
    """
    chat = chat if isinstance(chat, dict) else {}
    me = me if isinstance(me, dict) else {}
    if thread_id and not chat.get("is_forum"):
        return f"the chat has no topics: take /{thread_id} off the address"
    if me.get("status") in ("left", "kicked"):
        return "the bot is not in the chat: add it"
    return None if _may_write(chat, me) else "the bot may not write: allow it to send messages"


def is_private(chat: Any) -> bool:
    """True where getChat's answer is a person's own chat with the bot: there it may write."""
    return isinstance(chat, dict) and chat.get("type") == "private"


def _may_write(chat: dict[str, Any], me: dict[str, Any]) -> bool:
    if me.get("status") == "restricted":
        return bool(me.get("is_member") and me.get("can_send_messages"))
    if me and chat.get("type") == "channel":
        return bool(me.get("can_post_messages"))
    return True


def member_problem(member: Any) -> str | None:
    """Find a reason in getChatMember's answer why a person cannot answer there; else None."""
    member = member if isinstance(member, dict) else {}
    gone = member.get("status") in ("left", "kicked")
    if gone or (member.get("status") == "restricted" and member.get("is_member") is False):
        return "the person is not in the chat"
    return None
