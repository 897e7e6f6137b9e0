"""What the Telegram adapter needs to know, checked before anything starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from sayso.chats.budgets import Rate
from sayso.errors import ConfigError

TELEGRAM_HOST = "api.telegram.org"
PER_CHAT = Rate(1, 1)

# What can be nothing but a bot token, wherever it stands.
TOKEN_SHAPE = re.compile(r"(?<![0-9])[0-9]{6,12}:[A-Za-z0-9_-]{30,}")
_TOKEN = re.compile(r"(\d+):[A-Za-z0-9_-]+", re.ASCII)
# setWebhook, secret_token: 1-256 characters of A-Z, a-z, 0-9, _ and -.
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TelegramConfig:
    """One bot: its token, where its API is, and how its updates come in.

    The first webhook secret is the one that is registered; the others are
    let in as well, so that secrets can be rotated without losing a press. No more
    messages are sent to a chat than ``per_chat`` says, and no more to a group and to
    all than Telegram takes; None is as many as there are.

    Raises:
        ConfigError: a value is missing or makes no sense. Secrets are never quoted.
    """

    bot_token: str = field(repr=False)
    webhook_secrets: tuple[str, ...] = field(default=(), repr=False)
    api_url: str = f"https://{TELEGRAM_HOST}"
    mode: Literal["webhook", "polling"] = "webhook"
    per_chat: Rate | None = PER_CHAT

    def __post_init__(self) -> None:
        if not self.bot_token:
            raise ConfigError("TELEGRAM_BOT_TOKEN is not set: get one from @BotFather in Telegram")
        if not _TOKEN.fullmatch(self.bot_token):
            raise ConfigError(
                "TELEGRAM_BOT_TOKEN is not a bot token such as 123456789:AA…: copy it whole"
            )
        self._check_mode()
        self._check_url()

    @property
    def bot_id(self) -> int:
        """The bot's user id: the digits in front of the token."""
        return int(self.bot_token.partition(":")[0])

    @property
    def base_url(self) -> str:
        """What stands in front of the token in every API call."""
        return self.api_url.rstrip("/") + "/bot"

    @property
    def is_telegram_itself(self) -> bool:
        """Whether the API is Telegram's own and not a local Bot API server."""
        return urlsplit(self.api_url).hostname == TELEGRAM_HOST

    def _check_mode(self) -> None:
        if self.mode not in ("webhook", "polling"):
            raise ConfigError(f'[telegram] mode must be "webhook" or "polling", not {self.mode!r}')
        if self.mode == "webhook" and not self.webhook_secrets:
            raise ConfigError(
                "TELEGRAM_WEBHOOK_SECRET is not set: without it anybody could press buttons; "
                "make one with `openssl rand -hex 32`"
            )
        for number, secret in enumerate(self.webhook_secrets, start=1):
            if not _SECRET.fullmatch(secret):
                raise ConfigError(
                    f"TELEGRAM_WEBHOOK_SECRET, value {number}: Telegram takes 1 to 256 "
                    "characters of A-Z, a-z, 0-9, _ and -"
                )

    def _check_url(self) -> None:
        problem = "[telegram] api_url (SAYSO_TELEGRAM_API_URL)"
        try:
            url = urlsplit(self.api_url)
            url.port  # noqa: B018  a port that is not a number raises here
        except ValueError:
            raise ConfigError(f"{problem} is not a URL") from None
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigError(f"{problem} must begin with https:// and name a host")
        if "{" in self.api_url or url.query or url.fragment:
            raise ConfigError(f"{problem} must not contain ?, # or {{}}")
        if url.scheme == "http" and self.is_telegram_itself:
            raise ConfigError(f"{problem} would send the bot token unencrypted: use https://")
