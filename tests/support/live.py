"""Which messages still ask: a button that decides is live, and Revoke decides nothing any more."""

from __future__ import annotations

from collections.abc import Iterable


def is_live(buttons: Iterable[str]) -> bool:
    """Whether any of these labels decides on a question, and not on what one has stored."""
    return any(not label.startswith("Revoke") for label in buttons)
