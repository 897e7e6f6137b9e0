"""Which messages still ask: buttons that decide on something are live, Revoke is not one of them."""

from __future__ import annotations

from collections.abc import Iterable


def is_live(buttons: Iterable[str]) -> bool:
    """Whether any of these labels decides on a question, and not on what one has stored."""
    return any(not label.startswith("Revoke") for label in buttons)
