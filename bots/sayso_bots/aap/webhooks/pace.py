"""When a notification is tried again, and when it is given up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

GIVEN_UP_AFTER = timedelta(hours=168)
"""How long after the end of its request a notification is tried."""

KNOWN_AFTER = timedelta(hours=24)
"""How long its request is known at least once a notification is delivered or given up."""

_FIRST_SECONDS, _LONGEST_SECONDS = 4.0, 3600.0
_SOON_ENOUGH = 12  # doublings, after which the longest wait is reached


def seconds_until_next(tries: int, retry_after: float | None, jitter: Callable[[], float]) -> float:
    """How long to wait after so many failed tries: twice as long each time, and never in step.

    ``jitter`` is a random number from 0 to 1. The first wait is 2 to 4 seconds, the
    longest half an hour to an hour. What the receiver asks for is the least.
    """
    most = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** min(tries - 1, _SOON_ENOUGH))
    wait = most * (0.5 + jitter() / 2)
    return wait if retry_after is None else max(wait, retry_after)


def read_retry_after(written: str | None, now: datetime) -> float | None:
    """The seconds of a ``Retry-After``: a number of them, or a date. None if it says nothing."""
    if written is None:
        return None
    written = written.strip()
    if written.isascii() and written.isdigit():
        return float(written[:9])
    try:
        at = parsedate_to_datetime(written)
        if at.tzinfo is None:
            return None
        return max(0.0, (at - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
