"""Errors of the Bot API in words that help, without the bot token."""

from __future__ import annotations

import json
import re
from typing import Any

from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    TelegramError,
    TimedOut,
)

from sayso.errors import ChannelMigratedError, DeliveryError
from sayso_telegram.config import PLATFORM, TOKEN_SHAPE

_NO_TOKEN = "[bot token]"  # noqa: S105  this is what stands in its place
# A shorter secret is a test's, and may be a word of any text.
_SECRET_CHARACTERS = 16
_DESCRIPTION_CHARACTERS = 200
_ENTITIES = re.compile(r"\bentit", re.IGNORECASE)

# Telegram's words (in lower case) and what to do about them.
_FIXES = (
    ("message thread not found", "there is no such topic: leave General out of the address"),
    ("topic_closed", "the topic is closed: reopen it or route elsewhere"),
    ("chat not found", "add the bot to the chat, or let the person press Start in the bot's chat"),
    ("not enough rights", "allow the bot to send messages in this chat"),
    ("have no rights", "allow the bot to send messages in this chat"),
    ("chat_write_forbidden", "allow the bot to send messages in this chat"),
    ("initiate conversation", "the person has to open a chat with the bot and press Start"),
    ("blocked by the user", "the person has to unblock the bot"),
    ("user is deactivated", "the account is gone: change the route"),
    ("kicked", "add the bot to the chat again"),
    ("not a member", "add the bot to the chat"),
    ("terminated by other getupdates", "another program polls with this bot's token: stop it"),
    ("webhook is active", "a webhook is set: run `sayso webhook delete` to poll"),
)


class FloodError(TelegramError):
    """Telegram answered 429; ``seconds`` is how long it asked to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too Many Requests: retry after {seconds:g}")
        self.seconds = seconds


class RedirectedError(TelegramError):
    """The API sends callers elsewhere; the token in the path does not go there."""

    def __init__(self, status: int) -> None:
        super().__init__(
            f"the call was sent elsewhere with HTTP {status}, which is not followed; "
            "name the address itself in telegram.api_url"
        )


# What getChatMember says of a number that is nobody's; Telegram gives its refusals no names.
_NOBODY = (
    "user not found",
    "member not found",
    "participant_id_invalid",
    "user_id_invalid",
    "invalid user_id specified",
)


_NO_CHAT = "chat not found"

# Codes of refusals: Telegram knows no such user or chat, or not in this place.
UNKNOWN_USER, UNKNOWN_CHAT = "unknown user", "unknown chat"


def to_delivery_error(error: TelegramError, token: str) -> DeliveryError:
    """Put the error in our words: how long to wait, where the chat went, or that it is final.

    BadRequest is a NetworkError in python-telegram-bot, but trying again
    cannot help against it.
    """
    if isinstance(error, ChatMigrated):
        return ChannelMigratedError(PLATFORM, str(error.new_chat_id))
    if isinstance(error, FloodError):
        return DeliveryError(PLATFORM, "too many messages", retry_after=error.seconds)
    if isinstance(error, InvalidToken):
        reason = "TELEGRAM_BOT_TOKEN is not valid: get the current one from @BotFather"
        return DeliveryError(PLATFORM, reason, permanent=True)
    if isinstance(error, TimedOut):
        return DeliveryError(PLATFORM, "no answer in time; it may have arrived nevertheless")
    if isinstance(error, BadRequest) and any(words in str(error).lower() for words in _NOBODY):
        reason = remove_token(str(error), token)
        return DeliveryError(PLATFORM, reason, code=UNKNOWN_USER, permanent=True)
    if isinstance(error, BadRequest) and _NO_CHAT in str(error).lower():
        reason = _add_fix(remove_token(str(error), token))
        return DeliveryError(PLATFORM, reason, code=UNKNOWN_CHAT, permanent=True)
    final = isinstance(error, BadRequest | Forbidden)
    return DeliveryError(PLATFORM, _add_fix(remove_token(str(error), token)), permanent=final)


def find_safe_cause(error: TelegramError, token: str) -> TelegramError | None:
    """Return the error as a cause for ours; None when its traceback would print the token."""
    link: BaseException | None = error
    while link is not None:
        if remove_token(f"{link} {link!r}", token) != f"{link} {link!r}":
            return None
        link = link.__cause__ or link.__context__
    return error


def remove_token(text: str, token: str) -> str:
    """Cut this bot token, its secret half, and anything that looks like one, out of the text."""
    _, _, secret = token.partition(":")
    text = text.replace(token, _NO_TOKEN) if token else text
    if len(secret) >= _SECRET_CHARACTERS:  # it stands alone where the colon is encoded
        text = text.replace(secret, _NO_TOKEN)
    return TOKEN_SHAPE.sub(_NO_TOKEN, text)


def shorten_refusal(body: bytes, token: str) -> bytes:
    """Return of a refusal its words, shortened, and where the chat went.

    python-telegram-bot quotes a page that it cannot read, and parameters that it does not know.
    """
    try:
        answer = json.loads(body.decode(errors="replace"))
    except (ValueError, RecursionError):
        answer = None
    given: dict[str, Any] = answer if isinstance(answer, dict) else {}
    refusal: dict[str, Any] = {"ok": False}
    description, parameters = given.get("description"), given.get("parameters")
    if isinstance(description, str):
        refusal["description"] = remove_token(description, token)[:_DESCRIPTION_CHARACTERS]
    chat = parameters.get("migrate_to_chat_id") if isinstance(parameters, dict) else None
    if isinstance(chat, int):
        refusal["parameters"] = {"migrate_to_chat_id": chat}
    return json.dumps(refusal).encode()


def is_unchanged(error: BadRequest) -> bool:
    """True where the message shows already what it was to be changed to: that is success."""
    return "message is not modified" in str(error).lower()


def is_about_entities(error: BadRequest) -> bool:
    """True where Telegram could not read how the text is formatted."""
    return _ENTITIES.search(str(error)) is not None


def _add_fix(text: str) -> str:
    words = text.lower()
    fix = next((fix for cause, fix in _FIXES if cause in words), "")
    return f"{text}: {fix}" if fix else text
