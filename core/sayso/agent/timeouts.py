"""How long a call may take, from the moment it is made."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from math import inf
from typing import TypeAlias

from sayso.durations import parse_duration
from sayso.stores.home import running_loop

DEFAULT_TIMEOUT_SECONDS = 600.0
"""A question expires after this many seconds unless told otherwise."""

DEFAULT_PATIENCE_SECONDS = 10.0
"""A store that is away is waited for this long unless told otherwise."""

MAX_TIMEOUT_SECONDS = 30 * 86_400.0
"""No question stays open longer than this."""

GRACE_SECONDS = 1.0
"""When its time is over, a call goes on at most this long: to hear how its question ended."""

Time: TypeAlias = float | timedelta | str
"""Seconds, a timedelta, or a text such as ``10m``."""

Timeout: TypeAlias = Time | None


def in_seconds(timeout: Time) -> float:
    """The timeout in seconds: one number for all who wait as long, as many do.

    Raises:
        TypeError: it is no time.
        ValueError: it is not written as one, not more than zero, or longer than 30 days.
    """
    # Before the cache: True equals 1 there, and a list cannot be looked up.
    if isinstance(timeout, bool) or not isinstance(timeout, int | float | timedelta | str):
        raise TypeError(
            f'a timeout is seconds, a timedelta or a text such as "10m", not {timeout!r:.40}'
        )
    return _in_seconds(timeout)


@lru_cache
def _in_seconds(timeout: Time) -> float:
    if isinstance(timeout, str):
        written = timeout
        try:
            timeout = parse_duration(written)
        except ValueError as error:
            raise ValueError(f"a timeout {written[:40]!r} {error}") from None
    try:
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    except OverflowError:
        seconds = inf
    if not 0 < seconds <= MAX_TIMEOUT_SECONDS:
        raise ValueError(
            f"a timeout must be more than 0 seconds and at most 30 days, not {seconds:g} s"
        )
    return seconds


@dataclass(frozen=True, slots=True)
class CallTime:
    """The time of one call: it began when the call was made. The calls of a batch share one."""

    seconds: float
    ends_at: float

    @classmethod
    def of(cls, timeout: Time) -> CallTime:
        """A time that begins now.

        Raises:
            ValueError: it is not more than zero, or longer than 30 days.
        """
        seconds = in_seconds(timeout)
        return cls(seconds, _now() + seconds)

    @classmethod
    def limited(cls, timeout: Timeout) -> CallTime | None:
        """A time that begins now; None where there is no limit.

        Raises:
            ValueError: as for ``of``.
        """
        return None if timeout is None else cls.of(timeout)

    @property
    def left(self) -> float:
        """The seconds until it is over; negative afterwards."""
        return self.ends_at - _now()


def _now() -> float:
    return running_loop().time()


@dataclass(frozen=True, slots=True)
class Countdown:
    """So many seconds, from the moment of the call; without a limit, as long as any question lives.

    Raises:
        ValueError: the timeout is not more than zero, or longer than 30 days.
    """

    timeout: Timeout
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.seconds  # noqa: B018  said at once that it makes no sense

    @property
    def seconds(self) -> float:
        """The seconds that the call may take."""
        return MAX_TIMEOUT_SECONDS if self.timeout is None else in_seconds(self.timeout)

    @property
    def left(self) -> float:
        """The seconds until it is over; negative afterwards."""
        return self.began + self.seconds - time.monotonic()

    @property
    def patience(self) -> float:
        """The seconds a caller waits for the thread: it may be busy when the gate ends the call."""
        return max(self.left, 0.0) + 2 * GRACE_SECONDS

    @property
    def there(self) -> CallTime:
        """The same time in the event loop that runs here: what it was late for is over already."""
        return CallTime(self.seconds, asyncio.get_running_loop().time() + self.left)

    @property
    def rest(self) -> timedelta | None:
        """The seconds left of it, as a timeout; None where there is no limit."""
        return None if self.timeout is None else timedelta(seconds=max(self.left, 0.001))
