"""Work that goes on after Slack got its answer, and is waited for at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

_log = logging.getLogger(__name__)

_MOST = 1_000
_PATIENCE_SECONDS = 15.0


class Afterwards:
    """Tasks that somebody holds and awaits, at most 1,000 at a time."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_full(self) -> bool:
        """Whether no more work should be started."""
        return len(self._tasks) >= _MOST

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do the work in the background."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def finish(self) -> None:
        """Return when everything started is done, also what was started meanwhile.

        What takes longer than 15 seconds is given up.
        """
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while self._tasks:
                    await asyncio.wait(self._tasks)
        except TimeoutError:
            late = set(self._tasks)
            _log.error("%d pieces of work were given up at the end", len(late))
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("work after an answer to Slack failed", exc_info=error)
