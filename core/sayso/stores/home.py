"""The one event loop that a store belongs to."""

from __future__ import annotations

import asyncio

from sayso.errors import GateClosedError


def running_loop() -> asyncio.AbstractEventLoop:
    """The event loop of asyncio that runs here.

    Raises:
        GateClosedError: none does; another library's may.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise GateClosedError.for_wrong_loop() from None


class Home:
    """Where a store is used: the event loop of its first use, and no other one.

    What waits in one loop is never woken from another, so without this a call from
    elsewhere would hang for ever, whatever its timeout.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the first use; None before it."""
        return self._loop

    def check(self) -> None:
        """Return in the loop of the first use.

        Raises:
            GateClosedError: this is another one, or none.
        """
        loop = running_loop()
        if self._loop is None:
            self._loop = loop
        if loop is not self._loop:
            raise GateClosedError.for_wrong_loop()
