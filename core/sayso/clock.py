"""What time it is, for everything that is given a clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""The time now, aware and in UTC. Tests pass one of their own."""


def utc_now() -> datetime:
    """The time now, in UTC: the clock where no other one is given."""
    return datetime.now(UTC)
