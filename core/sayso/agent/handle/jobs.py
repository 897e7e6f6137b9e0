"""One piece of work for the handle's thread, and what comes of it for whoever waits elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class Job(Generic[_T]):
    """Work that is begun in the loop of a handle; its ``outcome`` is told, come what may.

    Cancel the outcome from anywhere, and the work is cancelled. All else happens in
    the handle's thread.
    """

    def __init__(
        self, work: Callable[[], Coroutine[Any, Any, _T]], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.outcome: Future[_T] = Future()
        self._work = work
        self._loop = loop
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Do the work, unless nobody waits for it any more."""
        if not self.outcome.done():
            self._task = asyncio.create_task(self._do())
            self.outcome.add_done_callback(self._given_up)

    def fail(self, error: BaseException) -> None:
        """Tell whoever still waits that nothing will come of it."""
        if self._is_waited_for():
            self.outcome.set_exception(error)

    async def stop(self) -> None:
        """Cancel the work, and return when it has ended."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _do(self) -> None:
        try:
            result = await self._work()
        except asyncio.CancelledError:
            # Ours has told its outcome before; whoever waits must not take this for its own.
            self.fail(RuntimeError("the work was cancelled from within: nothing was approved"))
            raise
        except Exception as error:
            self.fail(error)
        except BaseException as error:
            # A policy may end this thread as little as the loop of whoever waits.
            ended = RuntimeError(f"{type(error).__name__} was raised: nothing was approved")
            ended.__cause__ = error
            self.fail(ended)
        else:
            if self._is_waited_for():
                self.outcome.set_result(result)

    def _is_waited_for(self) -> bool:
        return not self.outcome.done() and self.outcome.set_running_or_notify_cancel()

    def _given_up(self, outcome: Future[_T]) -> None:
        if outcome.cancelled() and self._task is not None:
            with suppress(RuntimeError):  # the loop is closed, and so the task has ended
                self._loop.call_soon_threadsafe(self._task.cancel)
