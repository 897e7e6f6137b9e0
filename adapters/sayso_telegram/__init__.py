"""Sayso in Telegram: cards become messages with buttons, presses come back to the desk.

All that only Telegram has belongs here: its markup, its keyboards, its updates, its errors. Who may
decide and what an answer means is the core's business.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sayso_telegram.config import TelegramConfig

if TYPE_CHECKING:
    from sayso_telegram.adapter import BotIdentity, TelegramAdapter
    from sayso_telegram.incoming.listener import TelegramListener
    from sayso_telegram.incoming.webhook import (
        WebhookState,
        delete_webhook,
        set_webhook,
        show_webhook,
    )

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

# Reading settings needs none of Telegram's libraries: these are loaded when they are first used.
_LATER = {
    "BotIdentity": "sayso_telegram.adapter",
    "TelegramAdapter": "sayso_telegram.adapter",
    "TelegramListener": "sayso_telegram.incoming.listener",
    "WebhookState": "sayso_telegram.incoming.webhook",
    "delete_webhook": "sayso_telegram.incoming.webhook",
    "set_webhook": "sayso_telegram.incoming.webhook",
    "show_webhook": "sayso_telegram.incoming.webhook",
}

# Type checkers read the imports above: to them, another name is a mistake.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is loaded on its first use."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found
