"""How long a question may stay open."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeAlias

DEFAULT_TIMEOUT_SECONDS = 600.0
"""A question expires after this many seconds unless told otherwise."""

MAX_TIMEOUT_SECONDS = 30 * 86_400.0
"""No question stays open longer than this."""

Timeout: TypeAlias = float | timedelta | None


def in_seconds(timeout: float | timedelta) -> float:
    """The timeout in seconds.

    Raises:
        ValueError: it is not more than zero, or longer than 30 days.
    """
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not 0 < seconds <= MAX_TIMEOUT_SECONDS:
        raise ValueError(
            f"a timeout must be more than 0 seconds and at most 30 days, not {seconds:g} s"
        )
    return seconds
