"""Assent in Telegram: cards become messages with buttons, presses come back to the desk."""

from assent_telegram.adapter import BotIdentity, TelegramAdapter
from assent_telegram.config import TelegramConfig
from assent_telegram.listener import TelegramListener
from assent_telegram.webhook import WebhookState, delete_webhook, set_webhook, show_webhook

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
