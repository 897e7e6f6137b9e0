"""What an agent wrote, as a person may be shown it."""

from __future__ import annotations

from sayso.text.blanks import folded, unmarked
from sayso.text.secrets import redacted_text
from sayso.text.visible import visible


def from_agent(text: str, *, one_line: bool = False) -> str:
    """The text without secrets, nothing in it invisible, and no part of it out of sight.

    Nothing in it looks like a mark of ours for blanks. Made once: a text that
    was made so is not made so again.
    """
    return shown_as_agents(redacted_text(text), one_line=one_line)


def shown_as_agents(text: str, *, one_line: bool = False) -> str:
    """The same of a text whose secrets are hidden already."""
    return folded(visible(unmarked(text), one_line=one_line))
