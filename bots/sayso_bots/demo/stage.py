"""The stage: both platforms, the bots as ``sayso serve`` runs them, and an agent's gate."""

from __future__ import annotations

import errno
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from sayso.agent.gate import Gate
from sayso.calls import RunRef
from sayso.errors import ConfigError
from sayso.stores.connect import open_store
from sayso_bots.config.settings import Settings, build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.config.store_settings import StoreSettings, build_store_settings
from sayso_bots.server.server import Serving, serving
from sayso_playground import Playground, PlaygroundConfig
from sayso_telegram.platform import TelegramRegistration

SLACK_CHANNEL = "C0OPS"
TELEGRAM_CHAT = -1001234567890

_SETTINGS = f"""
[server]
port = 0

[people.alice]
slack = "U0ALICE"
telegram = 4242

[people.bob]
slack = "U0BOB"

[[route]]
to = ["slack:{SLACK_CHANNEL}", "telegram:{TELEGRAM_CHAT}"]
approvers = ["alice", "bob"]
timeout = "10m"
"""


_MEMORY = StoreSettings("memory://")


def store_of_argument(url: str) -> StoreSettings:
    """The store that ``--store`` names.

    Raises:
        ConfigError: agents in other processes cannot ask there.
    """
    source = parse_source("", {})
    store = build_store_settings(source, url)
    source.check("store")
    if store.is_memory:
        raise ConfigError("--store: memory:// serves one process; name a Redis, or leave it out")
    return store


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that plays: it all talks over HTTP, signed as in real life."""

    playground: Playground
    bots: Serving
    gate: Gate


@asynccontextmanager
async def stage(
    port: int, *, more: str = "", store: StoreSettings = _MEMORY
) -> AsyncIterator[Stage]:
    """The stage while the block runs; its page listens on ``port``, 0 is any.

    ``more`` are sections in TOML besides those of the demo's settings.

    Raises:
        ConfigError: the port is in use, or other bots serve the store.
        StoreUnreachableError: the store does not answer.
    """
    async with AsyncExitStack() as stack:
        playground = await _playground(stack, port)
        backend = await stack.enter_async_context(open_store(store.url))
        # Whoever sees the page may answer: not what people are asked by bots of theirs.
        if await backend.outbox.count_workers():
            raise ConfigError(
                f"{store.name}: bots serve {store.shown} already; "
                "name a store for the demo alone, such as redis://127.0.0.1:6379/1"
            )
        settings = replace(_settings(playground, more), store=store)
        bots = await stack.enter_async_context(serving(settings, backend=backend))
        playground.slack.deliver_to(f"{bots.url}/slack/events")
        if (telegram := settings.platforms.get("telegram")) is not None:
            webhook = f"{bots.url}/telegram/webhook"
            await TelegramRegistration().set(telegram.settings, webhook)
        run = RunRef("deploy-bot", "demo")
        gate = await stack.enter_async_context(Gate.open(backend, run=run))
        yield Stage(playground, bots, gate)


async def _playground(stack: AsyncExitStack, port: int) -> Playground:
    try:
        return await stack.enter_async_context(Playground(PlaygroundConfig(port=port)))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} is in use; choose another one with --port") from None
        raise ConfigError(
            f"port {port} cannot be used: {error.strerror}; choose another one with --port"
        ) from None


def _settings(playground: Playground, more: str) -> Settings:
    environment = {
        "SLACK_BOT_TOKEN": playground.config.slack_bot_token,
        "SLACK_SIGNING_SECRET": playground.config.slack_signing_secret,
        "SAYSO_SLACK_API_URL": playground.slack_api_url,
        "TELEGRAM_BOT_TOKEN": playground.config.telegram_bot_token,
        "TELEGRAM_WEBHOOK_SECRET": secrets.token_hex(32),
        "SAYSO_TELEGRAM_API_URL": playground.telegram_api_url,
        # The played platforms take as many messages as there are.
        "SAYSO_SLACK_PER_CHANNEL": "off",
        "SAYSO_TELEGRAM_PER_CHAT": "off",
    }
    return build_settings(parse_source(_SETTINGS + more, environment, name="the demo's settings"))
