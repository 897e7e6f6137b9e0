"""Waiting for a condition without polling: every change wakes everybody who waits."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Whoever waits for something that never comes is told after this; a busy machine needs less.
PATIENCE_SECONDS = 30.0


class Changes:
    """A bell that rings whenever anything visible in the playground changed."""

    def __init__(self) -> None:
        self.version = 0
        self._bell = asyncio.Event()

    def ring(self) -> None:
        """Wake everybody who waits, once."""
        self.version += 1
        self._bell.set()
        self._bell = asyncio.Event()

    async def after(self, version: int) -> int:
        """Return the current version as soon as it is newer than this one."""
        while self.version <= version:
            await self._bell.wait()
        return self.version

    async def until(self, find: Callable[[], T | None], what: str, timeout: float) -> T:
        """Look now and after every change, until ``find`` finds something.

        Raises:
            TimeoutError: it did not within ``timeout`` seconds; the message says what.
        """
        try:
            async with asyncio.timeout(timeout):
                while (found := find()) is None:
                    await self.after(self.version)
                return found
        except TimeoutError as error:
            raise TimeoutError(f"no {what} within {timeout:g} s") from error
