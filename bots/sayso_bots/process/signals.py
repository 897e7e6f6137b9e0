"""Signals that stop a process, and a reader of its output that has gone."""

from __future__ import annotations

import asyncio
import select
import signal
import threading
from collections.abc import Collection, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class StoppedError(BaseException):
    """SIGTERM or what else was listened for came, and everything has been tidied up."""


def run_stoppable(
    work: Coroutine[Any, Any, _T], signals: Collection[signal.Signals] = (signal.SIGTERM,)
) -> _T:
    """Run work that Ctrl-C and these signals cancel; once, so that it can tidy up.

    Raises:
        KeyboardInterrupt: Ctrl-C, unless it is one of the signals.
        StoppedError: one of the signals.
    """
    stopped = False

    async def stoppable() -> _T:
        task = asyncio.current_task()

        def stop() -> None:
            nonlocal stopped
            if task is not None and not stopped:
                task.cancel()
            stopped = True

        # Python lets only the main thread listen for signals.
        if threading.current_thread() is threading.main_thread():
            for number in signals:
                asyncio.get_running_loop().add_signal_handler(number, stop)
        return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        if stopped:
            raise StoppedError from None
        raise


_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


def is_gone(reader: int) -> bool:
    """Return whether nobody reads any more what is written to this file."""
    poll = select.poll()
    poll.register(reader, 0)
    return any(event & _GONE for _, event in poll.poll(0))
