"""The button of a card as callback data of Telegram."""

from __future__ import annotations

import re

from sayso.cards import buttons
from sayso.cards.buttons import Button

# InlineKeyboardButton, callback_data: 1-64 bytes. `p1:` + 22 + `:!` + 20 takes 47.
_MOST_BYTES = 64
_PREFIX = "p1:"
_HANDLE = re.compile(r"[A-Za-z0-9_-]{16,39}", re.ASCII)


def button_data(button: Button) -> str:
    """The button as callback data.

    Raises:
        ValueError: Telegram or our own reader would not take it.
    """
    data = _PREFIX + buttons.button_data(button)
    size = len(data.encode())
    if size > _MOST_BYTES:
        raise ValueError(f"a button carries {size} bytes, Telegram allows {_MOST_BYTES}")
    if not _HANDLE.fullmatch(button.handle):
        raise ValueError("a button carries a handle of 16 to 39 URL-safe characters and a key")
    return data


def read_button(data: str) -> Button | None:
    """The button that callback data stands for; None when it is not one of ours."""
    if not data.startswith(_PREFIX):
        return None
    button = buttons.read_button(data.removeprefix(_PREFIX))
    return button if button is not None and _HANDLE.fullmatch(button.handle) else None
