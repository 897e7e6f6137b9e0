"""Ctrl-C and SIGTERM for a command that waits: it tidies up, then ends."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class StoppedError(BaseException):
    """SIGTERM came, and everything has been tidied up."""


def run_stoppable(work: Coroutine[Any, Any, _T]) -> _T:
    """Run work that Ctrl-C and SIGTERM cancel.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        StoppedError: SIGTERM.
    """
    stopped = False

    async def stoppable() -> _T:
        task = asyncio.current_task()

        def stop() -> None:
            nonlocal stopped
            stopped = True
            if task is not None:
                task.cancel()

        # Python lets only the main thread listen for signals.
        if threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
        return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        if stopped:
            raise StoppedError from None
        raise
