"""Sayso in Telegram: cards become messages with buttons, presses come back to the desk."""

from sayso_telegram.adapter import BotIdentity, TelegramAdapter
from sayso_telegram.config import TelegramConfig
from sayso_telegram.incoming.listener import TelegramListener
from sayso_telegram.incoming.webhook import WebhookState, delete_webhook, set_webhook, show_webhook

__all__ = [
    "BotIdentity",
    "TelegramAdapter",
    "TelegramConfig",
    "TelegramListener",
    "WebhookState",
    "delete_webhook",
    "set_webhook",
    "show_webhook",
]
