"""Text of agents and of others, as a person may be shown it."""

from __future__ import annotations

from sayso.text.secrets import has_login, holds_secret, redacted_text
from sayso.text.visible import folded, one_line, shortened, unmarked, visible

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


def from_agent(text: str, *, one_line: bool = False) -> str:
    """The text without secrets, nothing in it invisible, and no part of it out of sight.

    Nothing in it looks like a mark of ours for blanks. Made once: a text that
    was made so is not made so again.
    """
    return shown_as_agents(redacted_text(text), one_line=one_line)


def shown_as_agents(text: str, *, one_line: bool = False) -> str:
    """The same of a text whose secrets are hidden already."""
    return folded(visible(unmarked(text), one_line=one_line))
