"""One bot's settings: the section of sayso.toml, its secrets, and what is sent how often."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

from sayso.chats.budgets import Budget, Rate
from sayso.chats.limits import Sending
from sayso.chats.places import Place
from sayso.errors import ConfigError
from sayso.platforms.platform import ApiUrl, Pace, PlatformSettings, Secret, Section

PLATFORM = "telegram"
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
        """The part of every call's address in front of the token."""
        return self.api_url.rstrip("/") + "/bot"

    @property
    def is_telegram_itself(self) -> bool:
        """True for Telegram's own API, False for a local Bot API server."""
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


def build_config(settings: PlatformSettings[TelegramSection]) -> TelegramConfig:
    """Build the adapter's settings.

    Raises:
        ConfigError: the values make no sense.
    """
    section = settings.section
    return replace(build_webhook_config(settings), mode=section.mode, per_chat=section.per_chat)


def build_webhook_config(settings: PlatformSettings[TelegramSection]) -> TelegramConfig:
    """Build what looking at the webhook needs: no secret, which only registering it does.

    Raises:
        ConfigError: the values make no sense.
    """
    return TelegramConfig(
        bot_token=settings.value(BOT_TOKEN),
        webhook_secrets=settings.values(WEBHOOK_SECRET),
        api_url=settings.section.api_url.rstrip("/"),
        mode="polling",
    )


_GROUP, _ALL_CHATS = Rate(20, 60), Rate(30, 1)


def rate_limits(config: TelegramConfig) -> Callable[[Place, Sending], tuple[Budget, ...]]:
    """Return the rate limits that a message to a chat uses up, and a change of one as well."""

    def budgets(place: Place, sending: Sending) -> tuple[Budget, ...]:  # noqa: ARG001
        if config.per_chat is None:
            return ()
        chat = f"{PLATFORM}:{place.address}"
        budgets = (Budget(chat, config.per_chat), Budget(PLATFORM, _ALL_CHATS))
        # The ids of groups, supergroups and channels are negative.
        is_group = place.address.startswith("-")
        return (*budgets, Budget(f"{chat}:group", _GROUP)) if is_group else budgets

    return budgets
