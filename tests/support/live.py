"""Which messages still ask: a button that decides is live, and neither Revoke nor Details do."""

from __future__ import annotations

from collections.abc import Iterable


def is_live(buttons: Iterable[str]) -> bool:
    """Whether any of these labels decides on a question, and does not look back at one."""
    return any(not label.startswith(("Revoke", "Details")) for label in buttons)
