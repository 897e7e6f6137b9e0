"""Telegram as the bots know it: settings, opening, listening, checking, registering."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sayso.chats.adapter import Adapter, PressTaker
from sayso.chats.caller import Caller
from sayso.chats.places import Place
from sayso.errors import ConfigError, DeliveryError
from sayso.platforms.bot import Bot, Finding, Level, Listening, NotLooked
from sayso.platforms.platform import Platform, PlatformSettings, Registered, Registration, Secret
from sayso.stores.protocols import KeyValueStore
from sayso_telegram.config import (
    BOT_TOKEN,
    WEBHOOK_SECRET,
    TelegramSection,
    build_config,
    build_webhook_config,
)

if TYPE_CHECKING:
    from sayso_telegram.adapter import TelegramAdapter
    from sayso_telegram.config import TelegramConfig
    from sayso_telegram.notifications import TelegramNotifier
    from sayso_telegram.webhook import WebhookState

Settings = PlatformSettings[TelegramSection]

_USER = re.compile(r"\d+", re.ASCII)
_NUMBER = re.compile(r"-?\d+", re.ASCII)


class TelegramBot(Bot):
    """One Telegram bot."""

    def __init__(
        self, config: TelegramConfig, adapter: TelegramAdapter, caller: TelegramNotifier
    ) -> None:
        self._config = config
        self._adapter = adapter
        self._caller = caller

    @property
    def adapter(self) -> Adapter:
        """Shows the cards."""
        return self._adapter

    @property
    def caller(self) -> Caller:
        """Calls people."""
        return self._caller

    async def introduce(self) -> str:
        """The bot's name, and how presses come in."""
        who = await self._adapter.identity()
        polls = self._config.mode == "polling"
        how = "by polling" if polls else "at POST /telegram/webhook"
        return f"@{who.username}, presses {how}"

    async def can_post(self, place: Place) -> str | NotLooked | None:
        """Find a reason why the bot cannot write in the chat."""
        return await self._adapter.can_post(place)

    async def can_approve(self, account: str, places: Collection[Place]) -> str | NotLooked | None:
        """Find a reason why the person is in none of the chats; a channel's are unknown."""
        return await self._adapter.can_approve(account, places)

    async def look(self) -> Sequence[Finding]:
        """Check that Telegram delivers presses to where they are taken."""
        from sayso_telegram.webhook import show_webhook

        try:
            state = await show_webhook(self._config)
        except DeliveryError as error:
            return [Finding("failed", "webhook", error.reason, passing=not error.permanent)]
        return [_found(_registered(state, self._config.mode))]

    @asynccontextmanager
    async def listening(
        self, desk: PressTaker, key_value: KeyValueStore, *, owner: str
    ) -> AsyncIterator[Listening]:
        """Updates over the webhook, or fetched by one process at a time."""
        from sayso_telegram.listener import TelegramListener

        async with TelegramListener(
            self._config, self._adapter, desk, key_value, owner=owner
        ) as listener:
            if self._config.mode == "polling":
                yield Listening(fetch=listener.run_polling)
            else:
                yield Listening(routes=listener.routes())


def _found(registered: Registered) -> Finding:
    """The line of ``sayso check``."""
    parts = [f"{registered.url}, {registered.waiting} updates waiting"] if registered.url else []
    parts += [registered.remark] if registered.remark else []
    parts += [f"last error: {registered.last_error}"] if registered.last_error else []
    level: Level = "ok"
    if not registered.is_as_needed:
        level = "failed"
    elif registered.url and len(parts) > 1:
        level = "warning"
    elif registered.url:
        parts[0] += f", updates: {', '.join(registered.kinds) or 'the default ones'}"
    return Finding(level, "webhook", "; ".join(parts))


class TelegramRegistration(Registration[TelegramSection]):
    """The bot's webhook."""

    needed = (BOT_TOKEN,)

    async def set(self, settings: Settings, url: str) -> Registered:
        """Register it with the first secret and the updates that are needed.

        Raises:
            ConfigError: the URL or a secret makes no sense, or the bots are to poll.
            DeliveryError: Telegram did not take it.
        """
        from sayso_telegram.webhook import set_webhook

        if settings.section.mode == "polling":
            raise ConfigError(
                'telegram.mode is "polling", and a webhook would stop the bots that poll; set '
                'telegram.mode = "webhook" (or SAYSO_TELEGRAM_MODE) and restart the bots first'
            )
        return _registered(
            await set_webhook(build_webhook_config(settings), url), settings.section.mode
        )

    async def show(self, settings: Settings) -> Registered:
        """Return Telegram's view of it.

        Raises:
            DeliveryError: Telegram did not say.
        """
        from sayso_telegram.webhook import show_webhook

        return _registered(
            await show_webhook(build_webhook_config(settings)), settings.section.mode
        )

    async def delete(self, settings: Settings) -> Registered:
        """Take it away; updates that wait stay.

        Raises:
            DeliveryError: Telegram did not take it.
        """
        from sayso_telegram.webhook import delete_webhook

        return _registered(
            await delete_webhook(build_webhook_config(settings)), settings.section.mode
        )


def _registered(state: WebhookState, mode: str) -> Registered:
    fits, remark = _judged(state, mode)
    return Registered(
        url=state.url,
        waiting=state.pending_update_count,
        last_error=state.last_error_message,
        last_error_at=state.last_error_at,
        kinds=state.allowed_updates,
        fits=fits,
        remark=remark,
    )


def _judged(state: WebhookState, mode: str) -> tuple[bool, str]:
    """Compare the webhook with the mode: it fits or not, and a remark."""
    if mode == "polling":
        if state.url:
            return False, "it is registered, so polling gets nothing; `sayso webhook delete`"
        return True, "none is registered, as polling needs it"
    if not state.url:
        fix = "`sayso webhook set https://…/telegram/webhook` does it"
        return False, f"none is registered; {fix}"
    if not state.updates_fit:
        return False, "not all needed updates are sent: repeat `sayso webhook set`"
    if not state.path_fits:
        return True, (
            "the bots take presses at /telegram/webhook: "
            "another path is right only where a proxy rewrites it"
        )
    return True, ""


class TelegramPlatform(Platform[TelegramSection]):
    """Telegram."""

    name = "telegram"
    title = "Telegram"
    section = TelegramSection
    secrets = (BOT_TOKEN, WEBHOOK_SECRET)
    place_example = "telegram:-1001234567890"
    account_example = "telegram:4242"
    quick_start = f'{BOT_TOKEN.variable} with telegram.mode = "polling"'
    registration = TelegramRegistration()

    def needed(self, section: TelegramSection) -> Sequence[Secret]:
        """The bot token, and for the webhook its secret."""
        return self.secrets if section.mode == "webhook" else (BOT_TOKEN,)

    def check_place(self, place: Place) -> None:
        """Chats and topics by their numbers.

        Raises:
            ValueError: it is neither.
        """
        if not _NUMBER.fullmatch(place.address):
            raise ValueError(
                "is not a Telegram chat id; write the number, such as telegram:-1001234567890: "
                "names can change hands"
            )
        if place.thread and not _NUMBER.fullmatch(place.thread):
            raise ValueError(
                "names a topic that is not a number, such as telegram:-1001234567890/17"
            )

    def account(self, written: object) -> str:
        """A user id.

        Raises:
            ValueError: it is not one.
        """
        if isinstance(written, bool) or not _USER.fullmatch(str(written)):
            raise ValueError(
                "is not a numeric Telegram user id such as 4242; usernames can change hands, "
                "@userinfobot tells the id"
            )
        return str(written)

    def check_group(self, name: str) -> None:  # noqa: ARG002  whatever it is
        """There are none that a bot can read.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "cannot approve: Telegram has no groups of approvers, and usernames can change "
            "hands; write telegram: and the numeric user id"
        )

    @asynccontextmanager
    async def open(self, settings: Settings, key_value: KeyValueStore) -> AsyncIterator[Bot]:
        """The bot; forms that are being filled in are kept in ``key_value``.

        Raises:
            ConfigError: the extra is not installed, or the values make no sense.
        """
        config = build_config(settings)
        try:
            from sayso_telegram.adapter import TelegramAdapter
            from sayso_telegram.notifications import TelegramNotifier
        except ImportError as error:
            raise ConfigError(
                "Telegram needs its libraries: install Sayso with its extra `telegram`, "
                "from where you got it"
            ) from error
        async with TelegramAdapter(config, key_value) as adapter:
            yield TelegramBot(config, adapter, TelegramNotifier(adapter))


PLATFORM = TelegramPlatform()
