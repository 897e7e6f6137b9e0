"""The time of a call as its caller counts it, whatever the handle's thread is busy with."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import timedelta

from sayso.agent.timeouts import GRACE_SECONDS, MAX_TIMEOUT_SECONDS, CallTime, Timeout, in_seconds


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
        """How long the call may take."""
        return MAX_TIMEOUT_SECONDS if self.timeout is None else in_seconds(self.timeout)

    @property
    def left(self) -> float:
        """The seconds until it is over; negative afterwards."""
        return self.began + self.seconds - time.monotonic()

    @property
    def patience(self) -> float:
        """How long the caller waits for the thread: it may be busy when the gate ends the call."""
        return max(self.left, 0.0) + 2 * GRACE_SECONDS

    @property
    def there(self) -> CallTime:
        """The same time in the event loop that runs here: what it was late for is over already."""
        return CallTime(self.seconds, asyncio.get_running_loop().time() + self.left)

    @property
    def rest(self) -> timedelta | None:
        """What is left of it, as a timeout; None where there is no limit."""
        return None if self.timeout is None else timedelta(seconds=max(self.left, 0.001))
