"""What the settings say about Telegram: its section, its secrets, and how it names things."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from sayso.chats.places import Place
from sayso.platforms.secret import Secret
from sayso.platforms.section import ApiUrl, PlatformSettings, Section
from sayso_telegram.config import TELEGRAM_HOST, TOKEN_SHAPE, TelegramConfig

_NUMBER = re.compile(r"-?\d+", re.ASCII)
_USER = re.compile(r"\d+", re.ASCII)

_WHERE = "@BotFather shows it after /mybots, under API Token"

BOT_TOKEN = Secret(
    "TELEGRAM_BOT_TOKEN",
    _WHERE,
    keys=("bot_token", "token"),
    looks=TOKEN_SHAPE,
    form=r"\d+:[A-Za-z0-9_-]+",
    misfit=f"does not have the form digits:letters; {_WHERE}, copy all of it",
)
WEBHOOK_SECRET = Secret(
    "TELEGRAM_WEBHOOK_SECRET",
    "choose one, for example the output of `openssl rand -hex 32`, "
    "and register it with `sayso webhook set URL`",
    keys=("webhook_secret", "webhook_secrets", "secret_token"),
    form=r"[A-Za-z0-9_-]{1,256}",
    misfit=(
        "must have 1 to 256 characters of A-Z a-z 0-9 _ -; "
        "for example the output of `openssl rand -hex 32`"
    ),
    several=True,
)


class TelegramSection(Section):
    """[telegram], without its secrets."""

    mode: Literal["webhook", "polling"] = "webhook"
    api_url: ApiUrl = f"https://{TELEGRAM_HOST}"


def config_of(settings: PlatformSettings[TelegramSection]) -> TelegramConfig:
    """What the adapter is told.

    Raises:
        ConfigError: the values make no sense.
    """
    return replace(config_to_register(settings), mode=settings.section.mode)


def config_to_register(settings: PlatformSettings[TelegramSection]) -> TelegramConfig:
    """What looking at the webhook needs: no secret, which only registering it does.

    Raises:
        ConfigError: the values make no sense.
    """
    return TelegramConfig(
        bot_token=settings.value(BOT_TOKEN),
        webhook_secrets=settings.values(WEBHOOK_SECRET),
        api_url=settings.section.api_url.rstrip("/"),
        mode="polling",
    )


def check_place(place: Place) -> None:
    """Return when it may be a chat, or a topic in one.

    Raises:
        ValueError: it cannot; the message says what to write instead.
    """
    if not _NUMBER.fullmatch(place.address):
        raise ValueError(
            "is not a Telegram chat id; write the number, such as telegram:-1001234567890: "
            "names can change hands"
        )
    if place.thread and not _NUMBER.fullmatch(place.thread):
        raise ValueError("names a topic that is not a number, such as telegram:-1001234567890/17")


def account(written: object) -> str:
    """A user id.

    Raises:
        ValueError: it is not one; the message says where to find it.
    """
    if isinstance(written, bool) or not _USER.fullmatch(str(written)):
        raise ValueError(
            "is not a numeric Telegram user id such as 4242; usernames can change hands, "
            "@userinfobot tells the id"
        )
    return str(written)
