"""What the settings say about Telegram: its section and its secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from sayso.platforms.platform import ApiUrl, Pace, PlatformSettings, Secret, Section
from sayso_telegram.config import (
    PER_CHAT,
    TELEGRAM_HOST,
    TOKEN_SHAPE,
    TelegramConfig,
)

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
    per_chat: Pace = PER_CHAT


def config_of(settings: PlatformSettings[TelegramSection]) -> TelegramConfig:
    """What the adapter is told.

    Raises:
        ConfigError: the values make no sense.
    """
    section = settings.section
    return replace(config_to_register(settings), mode=section.mode, per_chat=section.per_chat)


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
