"""How long ago the store said something, though its clock and ours need not agree."""

from __future__ import annotations

import time
from collections.abc import Callable

RECENT_SECONDS = 1.0
"""What the store said longer ago than this may no longer be true."""

# Times of the store are told in whole milliseconds, and clocks are nudged now and then.
_INEXACT_SECONDS = 0.1


class StoreClock:
    """Compares times of the store's clock with ours, and never takes one for younger than it is.

    Each answer of the store that says the time bounds how far its clock can be
    ahead of ours. A time that seems to lie in the future shows that one of the
    clocks was set meanwhile: then nothing is recent until the next answer.
    ``clock`` counts Unix seconds; it goes on while the computer sleeps.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.now = clock
        self._ahead: float | None = None

    def seen(self, at: float, *, asked_at: float) -> None:
        """The store's clock showed ``at`` after ours had shown ``asked_at``."""
        self._ahead = at - asked_at

    def forget(self) -> None:
        """It may be another clock from now on."""
        self._ahead = None

    def is_recent(self, at: float) -> bool:
        """Whether the store's clock showed this a moment ago, for certain."""
        if self._ahead is None:
            return False
        age = self.now() + self._ahead - at
        if age < -_INEXACT_SECONDS:
            self.forget()
        return -_INEXACT_SECONDS <= age <= RECENT_SECONDS
