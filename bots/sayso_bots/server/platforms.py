"""The configured platforms, each behind the same few verbs: introduce, look, listen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from aiohttp import web

from sayso.chats.adapter import Adapter
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.desk.desk import Desk
from sayso.errors import ConfigError, DeliveryError
from sayso.stores.ports import Drafts, Leases
from sayso_bots.settings.credentials import SLACK_APP_TOKEN
from sayso_bots.settings.settings import Settings, SlackSettings, TelegramSettings

if TYPE_CHECKING:
    from sayso_slack import SlackAdapter, SlackConfig
    from sayso_telegram import TelegramAdapter, TelegramConfig


@dataclass(frozen=True, slots=True)
class Listening:
    """How presses come in: routes for a web server, or work that fetches them until cancelled."""

    routes: Collection[web.RouteDef] = ()
    fetch: Callable[[], Coroutine[Any, Any, None]] | None = None


class Platform(Protocol):
    """One platform with its adapter, inside the block that opened it."""

    @property
    def name(self) -> str:
        """Its name, as in places."""
        ...

    @property
    def adapter(self) -> Adapter:
        """Shows the cards."""
        ...

    async def introduce(self) -> str:
        """Who the bot is there, in words.

        Raises:
            DeliveryError: the platform did not say; permanent when the token is wrong.
        """
        ...

    async def try_secrets(self) -> None:
        """Return when the platform takes whatever secrets ``introduce`` does not need.

        Raises:
            DeliveryError: it does not, or did not say.
        """
        ...

    async def can_post(self, place: Place) -> str | None:
        """What would prevent cards from being shown there, None when nothing is known to."""
        ...

    def listening(self, desk: Desk, leases: Leases) -> AbstractAsyncContextManager[Listening]:
        """Take presses for the desk while the block runs; its end waits for those in flight."""
        ...


def configured_platforms(
    settings: Settings, drafts: Drafts
) -> tuple[AbstractAsyncContextManager[Platform], ...]:
    """The platforms of the settings, to be opened; ``drafts`` keep forms being filled in.

    Raises:
        ConfigError: a platform's extra is not installed, or its settings make no sense.
    """
    opened: list[AbstractAsyncContextManager[Platform]] = []
    if settings.slack is not None:
        opened.append(_slack(slack_config(settings.slack)))
    if settings.telegram is not None:
        opened.append(_telegram(telegram_config(settings.telegram), drafts))
    return tuple(opened)


def slack_config(slack: SlackSettings) -> SlackConfig:
    """What the Slack adapter is told.

    Raises:
        ConfigError: the extra is not installed.
    """
    try:
        from sayso_slack import SlackConfig
    except ImportError as error:
        raise ConfigError("Slack needs its libraries: add the extra slack") from error
    return SlackConfig(
        bot_token=slack.bot_token,
        signing_secrets=slack.signing_secrets,
        team_id=slack.team_id or "",
        app_id=slack.app_id or "",
        app_token=slack.app_token,
        api_url=slack.api_url,
        mode=slack.mode,
    )


def telegram_config(telegram: TelegramSettings) -> TelegramConfig:
    """What the Telegram adapter is told.

    Raises:
        ConfigError: the extra is not installed, or the values make no sense.
    """
    try:
        from sayso_telegram import TelegramConfig
    except ImportError as error:
        raise ConfigError("Telegram needs its libraries: add the extra telegram") from error
    return TelegramConfig(
        bot_token=telegram.bot_token,
        webhook_secrets=telegram.webhook_secrets,
        api_url=telegram.api_url,
        mode=telegram.mode,
    )


@asynccontextmanager
async def _slack(config: SlackConfig) -> AsyncIterator[Platform]:
    from sayso_slack import SlackAdapter

    async with SlackAdapter(config) as adapter:
        yield _Slack(config, adapter)


@asynccontextmanager
async def _telegram(config: TelegramConfig, drafts: Drafts) -> AsyncIterator[Platform]:
    from sayso_telegram import TelegramAdapter

    async with TelegramAdapter(config, drafts) as adapter:
        yield _Telegram(config, adapter)


class _Slack:
    name = "slack"

    def __init__(self, config: SlackConfig, adapter: SlackAdapter) -> None:
        self._config = config
        self._adapter = adapter

    @property
    def adapter(self) -> Adapter:
        return self._adapter

    async def introduce(self) -> str:
        who = await self._adapter.identity()
        how = "over Socket Mode" if self._config.mode == "socket" else "at POST /slack/events"
        return f"{who.team_name} ({who.team_id}) as @{who.user_name}, presses {how}"

    async def try_secrets(self) -> None:
        if self._config.mode != "socket":
            return
        try:
            await self._adapter.socket_url()
        except DeliveryError as error:
            if not error.permanent:
                raise
            reason = f"SLACK_APP_TOKEN is not valid; {SLACK_APP_TOKEN.where}"
            raise DeliveryError(self.name, reason, permanent=True) from None

    async def can_post(self, place: Place) -> str | None:
        return await self._adapter.can_post(place)

    @asynccontextmanager
    async def listening(
        self,
        desk: Desk,
        leases: Leases,  # noqa: ARG002  any connection gets a press: nothing to take turns for
    ) -> AsyncIterator[Listening]:
        from sayso_slack import SlackListener

        async with SlackListener(self._config, self._adapter, desk, clock=utc_now) as listener:
            if self._config.mode == "socket":
                yield Listening(fetch=listener.run_socket)
            else:
                yield Listening(routes=listener.routes())


class _Telegram:
    name = "telegram"

    def __init__(self, config: TelegramConfig, adapter: TelegramAdapter) -> None:
        self._config = config
        self._adapter = adapter

    @property
    def adapter(self) -> Adapter:
        return self._adapter

    async def introduce(self) -> str:
        who = await self._adapter.identity()
        polls = self._config.mode == "polling"
        how = "by polling" if polls else "at POST /telegram/webhook"
        return f"@{who.username}, presses {how}"

    async def try_secrets(self) -> None:
        """Nothing: Telegram does not say whether a webhook's secret is right."""

    async def can_post(self, place: Place) -> str | None:
        return await self._adapter.can_post(place)

    @asynccontextmanager
    async def listening(self, desk: Desk, leases: Leases) -> AsyncIterator[Listening]:
        from sayso_telegram import TelegramListener

        async with TelegramListener(
            self._config, self._adapter, desk, leases, owner=desk.name
        ) as listener:
            if self._config.mode == "polling":
                yield Listening(fetch=listener.run_polling)
            else:
                yield Listening(routes=listener.routes())
