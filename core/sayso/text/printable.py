"""Foreign text in messages: on one line, not too long, and never a secret."""

from __future__ import annotations

from sayso.text.secrets import has_login, holds_secret, redacted_text
from sayso.text.visible import one_line, shortened

_LONGEST = 300


def printable(text: str) -> str:
    """Foreign text as it may be printed: on one line, not too long, and without secrets."""
    return one_line(redacted_text(text), _LONGEST)


def shown(value: object) -> str:
    """A wrong value as it may be shown in a message: short, and never a secret."""
    text = value if isinstance(value, str) else repr(value)
    if holds_secret(text) or has_login(text):
        return "that value"
    short = shortened(text, 60)
    return repr(short) if isinstance(value, str) else short
