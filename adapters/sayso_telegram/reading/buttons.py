"""What a button carries: the card's opaque handle and a word, nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sayso.cards.card import CHOICE_KEY

# InlineKeyboardButton, callback_data: 1-64 bytes. `p1:` + 22 + `:!` + 20 takes 47.
_MOST_BYTES = 64
_DATA = re.compile(
    rf"p1:(?P<handle>[A-Za-z0-9_-]{{16,39}}):(?P<confirmed>!?)(?P<key>{CHOICE_KEY.pattern})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Button:
    """A button of ours: whose card, which choice, and whether it is its second step."""

    handle: str
    key: str
    confirmed: bool = False


def button_data(button: Button) -> str:
    """The button as callback data.

    Raises:
        ValueError: Telegram or our own reader would not take it.
    """
    data = f"p1:{button.handle}:{'!' if button.confirmed else ''}{button.key}"
    size = len(data.encode())
    if size > _MOST_BYTES:
        raise ValueError(f"a button carries {size} bytes, Telegram allows {_MOST_BYTES}")
    if not _DATA.fullmatch(data):
        raise ValueError("a button carries a handle of 16 to 39 URL-safe characters and a word")
    return data


def read_button(data: str) -> Button | None:
    """The button that callback data stands for; None when it is not one of ours.

    Clients can send any data at all: this says nothing about whether such a
    button was ever shown.
    """
    match = _DATA.fullmatch(data)
    if match is None:
        return None
    return Button(match["handle"], match["key"], confirmed=bool(match["confirmed"]))
