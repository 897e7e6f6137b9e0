"""Registering the webhook: by one person or one deploy step, never at every start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from telegram import WebhookInfo

from sayso.errors import ConfigError
from sayso_telegram.client import Client
from sayso_telegram.config import TelegramConfig
from sayso_telegram.errors import remove_token
from sayso_telegram.parse_update import ALLOWED_UPDATES

WEBHOOK_PATH = "/telegram/webhook"

# setWebhook: "Ports currently supported for webhooks: 443, 80, 88, 8443".
_PORTS = (443, 80, 88, 8443)
# setWebhook, max_connections: 1-100, 40 unless told.
_CONNECTIONS = 40
_MOST_CONNECTIONS = 100
# Names that no public DNS has.
_NEAR = (".localhost", ".local", ".internal", ".home.arpa", ".test")


@dataclass(frozen=True, slots=True)
class WebhookState:
    """The bot's webhook as Telegram has it; ``url`` is empty when there is none."""

    url: str
    pending_update_count: int
    last_error_message: str
    last_error_at: datetime | None
    allowed_updates: tuple[str, ...]

    @property
    def updates_fit(self) -> bool:
        """True where every kind of update that is needed is sent; unset means all of ours are."""
        return not self.allowed_updates or set(ALLOWED_UPDATES) <= set(self.allowed_updates)

    @property
    def path_fits(self) -> bool:
        """True where it ends where the bots take updates; a proxy may rewrite another path."""
        return urlsplit(self.url).path == WEBHOOK_PATH


async def set_webhook(
    config: TelegramConfig, url: str, *, max_connections: int = _CONNECTIONS
) -> WebhookState:
    """Register the webhook with the first secret and the right updates.

    Updates that wait are kept: they may be presses made during a deploy.
    Repeating it changes nothing.

    Raises:
        ConfigError: the URL, the secret or the number makes no sense.
        DeliveryError: Telegram did not take it.
    """
    check_webhook_url(config, url)
    if not config.webhook_secrets:
        raise ConfigError(
            "TELEGRAM_WEBHOOK_SECRET is not set, so the bots would let nobody in; choose one, for "
            "example the output of `openssl rand -hex 32`, and set it for the bots, too"
        )
    if not 1 <= max_connections <= _MOST_CONNECTIONS:
        raise ConfigError(
            f"max_connections must be 1 to {_MOST_CONNECTIONS}, not {max_connections}"
        )
    client = Client(config)
    async with client.opened() as bot:
        with client.errors():
            await bot.set_webhook(
                url,
                max_connections=max_connections,
                allowed_updates=ALLOWED_UPDATES,
                secret_token=config.webhook_secrets[0],
            )
            return _state(await bot.get_webhook_info(), config)


async def show_webhook(config: TelegramConfig) -> WebhookState:
    """Ask Telegram for the webhook as it is now.

    Raises:
        DeliveryError: Telegram did not answer.
    """
    client = Client(config)
    async with client.opened() as bot:
        with client.errors():
            return _state(await bot.get_webhook_info(), config)


async def delete_webhook(config: TelegramConfig) -> WebhookState:
    """Take the webhook away, so that the bot can be polled. Updates that wait are kept.

    Raises:
        DeliveryError: Telegram did not take it.
    """
    client = Client(config)
    async with client.opened() as bot:
        with client.errors():
            await bot.delete_webhook()
            return _state(await bot.get_webhook_info(), config)


def check_webhook_url(config: TelegramConfig, url: str) -> None:
    """Return when Telegram can deliver to this URL.

    A local Bot API server takes any port, and within its own network http.

    Raises:
        ConfigError: it cannot; the message says why.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        raise ConfigError("the webhook's URL is not a URL") from None
    if problem := _problem(parts) or _unreachable(config, parts, port):
        raise ConfigError(f"the webhook's URL {problem}")
    if config.bot_token in url:
        fix = "proxies log it; the secret protects it"
        raise ConfigError(f"the webhook's URL must not contain the bot token: {fix}")


def _unreachable(config: TelegramConfig, parts: SplitResult, port: int) -> str | None:
    """Find a reason that keeps the Bot API from delivering there, or from doing so unseen."""
    if config.is_telegram_itself and parts.scheme != "https":
        return "must begin with https://: Telegram delivers over TLS only"
    if config.is_telegram_itself and port not in _PORTS:
        return f"must have one of the ports {', '.join(map(str, _PORTS))}, not {port}"
    if parts.scheme != "https" and not _is_near(parts.hostname or ""):
        return "must begin with https://: the secret would cross the internet unencrypted"
    return None


def _problem(parts: SplitResult) -> str | None:
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must begin with https:// and name a host"
    if parts.username or parts.password:
        return "must not contain a user or a password: the secret protects it"
    if parts.fragment:
        return "must not contain #"
    return None


def _is_near(host: str) -> bool:
    """True where a host can only be in a network of one's own."""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_NEAR)


def _state(info: WebhookInfo, config: TelegramConfig) -> WebhookState:
    return WebhookState(
        url=remove_token(str(info.url), config.bot_token),
        pending_update_count=info.pending_update_count,
        last_error_message=remove_token(str(info.last_error_message or ""), config.bot_token),
        last_error_at=info.last_error_date,
        allowed_updates=tuple(info.allowed_updates),
    )
