"""What a button carries: the card's opaque handle and the key of a choice, nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KEY = r"[a-z][a-z0-9_-]{0,19}"
_IS_KEY = re.compile(_KEY, re.ASCII)
_DATA = re.compile(rf"(?P<handle>[^\s:]{{1,120}}):(?P<confirmed>!?)(?P<key>{_KEY})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Button:
    """A button of ours: whose card, which choice, and whether it is its second step."""

    handle: str
    key: str
    confirmed: bool = False


def is_key(text: str) -> bool:
    """Whether the string can be the key of a choice: a lower-case word of 1 to 20 characters."""
    return _IS_KEY.fullmatch(text) is not None


def button_data(button: Button) -> str:
    """The button as a string for a platform to hand back: 22 characters more than the handle.

    Raises:
        ValueError: ``read_button`` would not take it.
    """
    data = f"{button.handle}:{'!' if button.confirmed else ''}{button.key}"
    if read_button(data) != button:
        raise ValueError("a button carries a handle without spaces or colons, and a key")
    return data


def read_button(data: str) -> Button | None:
    """The button that the string stands for; None when it is not one of ours.

    Clients can send any string at all: this says nothing about whether such a
    button was ever shown.
    """
    match = _DATA.fullmatch(data)
    if match is None:
        return None
    return Button(match["handle"], match["key"], confirmed=bool(match["confirmed"]))
