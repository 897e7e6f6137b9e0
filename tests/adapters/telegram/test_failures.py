"""Errors in our words: final or not, with a fix, and never with the bot token."""

from __future__ import annotations

import traceback

import pytest
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
    TimedOut,
)

from sayso.errors import ChannelMigratedError, DeliveryError
from sayso_telegram import TelegramConfig
from sayso_telegram.client import Client
from sayso_telegram.errors import remove_token, to_delivery_error

TOKEN = "4000000000:PLAYGROUND-token"
OTHER = "123456789:AAE_other-token-0123456789abcdefghij"


@pytest.mark.parametrize(
    ("error", "permanent", "words"),
    [
        (BadRequest("Message thread not found"), True, "leave General out"),
        (BadRequest("Chat not found"), True, "press Start"),
        (BadRequest("Not enough rights to send text messages to the chat"), True, "allow the bot"),
        (BadRequest("Message to edit not found"), True, "Message to edit not found"),
        (BadRequest("MESSAGE_ID_INVALID"), True, "MESSAGE_ID_INVALID"),
        (BadRequest("BUTTON_DATA_INVALID"), True, "BUTTON_DATA_INVALID"),
        (Forbidden("Forbidden: bot was blocked by the user"), True, "unblock the bot"),
        (Forbidden("Forbidden: user is deactivated"), True, "the account is gone"),
        (InvalidToken("Unauthorized"), True, "TELEGRAM_BOT_TOKEN is not valid"),
        (TimedOut(), False, "it may have arrived"),
        (NetworkError("ClientConnectorError: refused"), False, "refused"),
        (Conflict("Conflict: terminated by other getUpdates request"), False, "stop it"),
        (Conflict("can't use getUpdates while webhook is active"), False, "webhook delete"),
    ],
)
def test_each_error_is_final_or_not_and_says_what_to_do(
    error: TelegramError, permanent: bool, words: str
) -> None:
    ours = to_delivery_error(error, TOKEN)

    assert ours.permanent is permanent
    assert words in ours.reason


def test_a_migration_keeps_the_new_address() -> None:
    moved = to_delivery_error(ChatMigrated(-1005), TOKEN)

    assert isinstance(moved, ChannelMigratedError)
    assert moved.address == "-1005"


@pytest.mark.parametrize("token", [TOKEN, OTHER])
def test_a_token_is_cut_out_of_any_text(token: str) -> None:
    text = remove_token(f"POST https://api.telegram.org/bot{token}/getMe failed", TOKEN)

    assert text == "POST https://api.telegram.org/bot[bot token]/getMe failed"


def test_our_own_token_is_cut_out_even_if_it_looks_like_none() -> None:
    assert remove_token("GET /bot5:ab/getMe", "5:ab") == "GET /bot[bot token]/getMe"


def test_texts_without_a_token_stay_as_they_are() -> None:
    text = "chat -1001234567890 at 12:30:00 of telegram:4242"

    assert remove_token(text, TOKEN) == text


@pytest.mark.parametrize("token", [TOKEN, OTHER])
def test_not_even_the_traceback_has_the_token(token: str) -> None:
    client = Client(TelegramConfig(TOKEN, ("s",)))
    leak = NetworkError("no way through")
    leak.__cause__ = ValueError(f"https://api.telegram.org/bot{token}/getMe")

    with pytest.raises(DeliveryError) as raised, client.errors():
        raise leak

    assert token not in "".join(traceback.format_exception(raised.value))
    assert "no way through" in raised.value.reason


def test_a_harmless_cause_is_kept() -> None:
    client = Client(TelegramConfig(TOKEN, ("s",)))
    cause = BadRequest("Chat not found")

    with pytest.raises(DeliveryError) as raised, client.errors():
        raise cause

    assert raised.value.__cause__ is cause
