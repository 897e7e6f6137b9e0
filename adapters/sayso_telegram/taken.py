"""What became of an update."""

from __future__ import annotations

from dataclasses import dataclass

from sayso_telegram.toasts import Toast


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an update: whether Telegram may forget it, and what to tell the presser.

    ``retry_after`` is in how many seconds it is worth coming again, None where nobody said.
    """

    stored: bool
    toast: Toast | None = None
    retry_after: float | None = None
