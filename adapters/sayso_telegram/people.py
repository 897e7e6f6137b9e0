"""What people are called, as far as this process has heard."""

from __future__ import annotations

from typing import Any

_MOST_NAMES = 1_000


class People:
    """First names by user id, of those who pressed last. They prove nothing."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def heard(self, user_id: int, name: Any) -> None:
        """Note what Telegram calls this person now."""
        if not isinstance(name, str) or not name:
            return
        self._names.pop(user_id, None)
        self._names[user_id] = name
        if len(self._names) > _MOST_NAMES:
            del self._names[next(iter(self._names))]

    def name(self, user_id: int) -> str:
        """The name; empty when nothing was heard of the person."""
        return self._names.get(user_id, "")
