"""Sayso in Telegram: cards become messages with buttons, presses come back to the desk.

All that only Telegram has belongs here: its markup, its keyboards, its updates, its errors. Who may
decide and what an answer means is the core's business.
"""

from typing import TYPE_CHECKING

from sayso.later import later
from sayso_telegram.config import TelegramConfig

if TYPE_CHECKING:
    from sayso_telegram.adapter import BotIdentity, TelegramAdapter
    from sayso_telegram.listener import TelegramListener
    from sayso_telegram.webhook import WebhookState, delete_webhook, set_webhook, show_webhook

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

# Type checkers read the imports above: to them, another name is a mistake.
if not TYPE_CHECKING:
    # Reading settings needs none of Telegram's libraries: these are loaded on their first use.
    __getattr__, __dir__ = later(
        globals(),
        {
            "sayso_telegram.adapter": ("BotIdentity", "TelegramAdapter"),
            "sayso_telegram.listener": ("TelegramListener",),
            "sayso_telegram.webhook": (
                "WebhookState",
                "delete_webhook",
                "set_webhook",
                "show_webhook",
            ),
        },
    )
