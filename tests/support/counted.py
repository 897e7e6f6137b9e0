"""A port that counts the calls of one of its methods."""

from __future__ import annotations

from typing import Any


class Counted:
    """Passes everything on; ``looks`` is how often the method was called."""

    def __init__(self, inner: Any, method: str) -> None:
        self._inner = inner
        self._method = method
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            self.looks += 1
        return getattr(self._inner, name)
