"""Settings: what is missing or makes no sense is named, and secrets are never shown."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.errors import ConfigError
from sayso_telegram import TelegramConfig

TOKEN = "4000000000:PLAYGROUND-token"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bot_token": ""}, "TELEGRAM_BOT_TOKEN is not set"),
        ({"bot_token": "very-secret"}, "TELEGRAM_BOT_TOKEN is not a bot token"),
        ({"bot_token": "12:very-secret\n"}, "TELEGRAM_BOT_TOKEN is not a bot token"),
        ({"webhook_secrets": ()}, "TELEGRAM_WEBHOOK_SECRET is not set"),
        ({"webhook_secrets": ("",)}, "TELEGRAM_WEBHOOK_SECRET, value 1"),
        ({"webhook_secrets": ("ok", "very secret")}, "TELEGRAM_WEBHOOK_SECRET, value 2"),
        ({"webhook_secrets": ("s" * 257,)}, "1 to 256"),
        ({"webhook_secrets": ("sécret",)}, "1 to 256"),
        ({"mode": "push"}, "mode must be"),
        ({"api_url": "http://api.telegram.org"}, "unencrypted"),
        ({"api_url": "api.telegram.org"}, "https://"),
        ({"api_url": "https://"}, "name a host"),
        ({"api_url": "https://x:y"}, "not a URL"),
        ({"api_url": "https://x/{token}"}, "must not contain"),
        ({"api_url": "https://x/?a=b"}, "must not contain"),
    ],
)
def test_a_wrong_setting_is_named(changes: dict[str, Any], words: str) -> None:
    settings: dict[str, Any] = {"bot_token": TOKEN, "webhook_secrets": ("secret",)}

    with pytest.raises(ConfigError) as raised:
        TelegramConfig(**settings | changes)

    assert words in str(raised.value)
    assert "very" not in str(raised.value)


def test_polling_needs_no_webhook_secret() -> None:
    assert TelegramConfig(TOKEN, mode="polling").webhook_secrets == ()


def test_the_longest_secret_is_fine() -> None:
    assert TelegramConfig(TOKEN, ("aZ09_-" + "s" * 250,))


def test_secrets_are_not_in_the_repr() -> None:
    shown = repr(TelegramConfig(TOKEN, ("my-secret",)))

    assert TOKEN not in shown
    assert "my-secret" not in shown


@pytest.mark.parametrize("api_url", ["http://127.0.0.1:8081", "http://127.0.0.1:8081/"])
def test_a_local_bot_api_server_is_fine(api_url: str) -> None:
    config = TelegramConfig(TOKEN, ("secret",), api_url)

    assert config.base_url == "http://127.0.0.1:8081/bot"
    assert not config.is_telegram_itself
    assert config.bot_id == 4000000000


def test_telegram_itself_is_where_the_api_is() -> None:
    config = TelegramConfig(TOKEN, ("secret",))

    assert config.base_url == "https://api.telegram.org/bot"
    assert config.is_telegram_itself
