"""Setting, showing and deleting the webhook at Telegram's double."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sayso.errors import ConfigError, DeliveryError
from sayso_playground import Playground, PlaygroundConfig
from sayso_telegram import TelegramConfig, WebhookState, delete_webhook, set_webhook, show_webhook
from sayso_telegram.webhook import check_webhook_url

TOKEN = "4000000000:PLAYGROUND-token"
URL = "https://bots.example/telegram/webhook"


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    async with Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground:
        yield playground


@pytest.fixture
def config(playground: Playground) -> TelegramConfig:
    return TelegramConfig(TOKEN, ("first-secret", "second"), playground.telegram_api_url)


async def test_a_webhook_is_set_with_its_secret_and_the_right_updates(
    playground: Playground, config: TelegramConfig
) -> None:
    state = await set_webhook(config, URL, max_connections=20)

    updates = playground.telegram.updates
    assert updates.url == state.url == URL
    assert updates._secret == "first-secret"
    assert updates.allowed == ["message", "callback_query", "my_chat_member"]
    assert updates.max_connections == 20
    assert state.updates_fit


async def test_setting_and_deleting_never_drop_what_waits(
    playground: Playground, config: TelegramConfig
) -> None:
    playground.telegram.say(-1001234567890, "hello", by="alice")

    await set_webhook(config, URL)
    shown = await show_webhook(config)
    deleted = await delete_webhook(config)

    assert [shown.pending_update_count, deleted.pending_update_count] == [1, 1]
    for call in playground.telegram.calls:
        assert str(call.arguments.get("drop_pending_updates", "")).lower() in ("", "false")


async def test_setting_it_again_changes_nothing(
    playground: Playground, config: TelegramConfig
) -> None:
    assert await set_webhook(config, URL) == await set_webhook(config, URL)


async def test_without_a_webhook_its_url_is_empty(config: TelegramConfig) -> None:
    assert await show_webhook(config) == WebhookState("", 0, "", None, ())


async def test_the_last_error_is_shown(playground: Playground, config: TelegramConfig) -> None:
    await set_webhook(config, URL)
    playground.telegram.updates._note("Wrong response from the webhook: 401 Unauthorized")

    state = await show_webhook(config)

    assert state.last_error_message == "Wrong response from the webhook: 401 Unauthorized"
    assert state.last_error_at is not None


@pytest.mark.parametrize(
    ("allowed", "fit"),
    [
        ((), True),
        (("message", "callback_query", "my_chat_member", "poll"), True),
        (("message", "callback_query"), False),
        (("message",), False),
        (("callback_query", "my_chat_member"), False),
    ],
)
def test_updates_fit_when_every_needed_kind_is_sent(allowed: tuple[str, ...], fit: bool) -> None:
    assert WebhookState(URL, 0, "", None, allowed).updates_fit is fit


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://bots.example/telegram/webhook", "TLS"),
        ("https://bots.example:8080/telegram/webhook", "443, 80, 88, 8443"),
        ("bots.example/telegram/webhook", "https://"),
        ("ftp://bots.example/", "https://"),
        ("https://", "name a host"),
        ("https://bots.example:x/", "not a URL"),
        ("https://user:pass@bots.example/", "not contain a user"),
        ("https://bots.example/#x", "not contain #"),
        (f"https://bots.example/{TOKEN}", "must not contain the bot token"),
    ],
)
def test_a_url_telegram_could_not_use_is_refused(url: str, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        check_webhook_url(TelegramConfig(TOKEN, ("s",)), url)

    assert words in str(raised.value)
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize("port", ["", ":443", ":80", ":88", ":8443"])
def test_the_ports_telegram_delivers_to_are_fine(port: str) -> None:
    check_webhook_url(TelegramConfig(TOKEN, ("s",)), f"https://bots.example{port}/telegram/webhook")


def test_a_local_bot_api_server_delivers_anywhere() -> None:
    local = TelegramConfig(TOKEN, ("s",), "http://127.0.0.1:8081")

    check_webhook_url(local, "http://127.0.0.1:8080/telegram/webhook")


@pytest.mark.parametrize("connections", [0, 101])
async def test_only_1_to_100_connections_are_taken(
    config: TelegramConfig, connections: int
) -> None:
    with pytest.raises(ConfigError, match="1 to 100"):
        await set_webhook(config, URL, max_connections=connections)


async def test_without_a_secret_no_webhook_is_set(playground: Playground) -> None:
    config = TelegramConfig(TOKEN, (), playground.telegram_api_url, mode="polling")

    with pytest.raises(ConfigError, match="TELEGRAM_WEBHOOK_SECRET"):
        await set_webhook(config, URL)


async def test_a_wrong_token_is_named(playground: Playground) -> None:
    config = TelegramConfig("5:wrong-token", ("s",), playground.telegram_api_url)

    with pytest.raises(DeliveryError, match="TELEGRAM_BOT_TOKEN is not valid"):
        await show_webhook(config)
