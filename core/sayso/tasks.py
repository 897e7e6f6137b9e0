"""Work that runs beside whatever started it, and is awaited in the end."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sayso.text.secrets import redacted_text

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")


class Background:
    """Tasks that somebody holds until they are done.

    An error that ends one goes to ``failed``; without that it is logged under
    ``name`` with its traceback, secrets left out. Errors of the kinds in
    ``expected`` are neither.
    """

    def __init__(
        self,
        name: str,
        *,
        patience: float = 8.0,
        expected: tuple[type[Exception], ...] = (),
        failed: Callable[[BaseException], object] | None = None,
    ) -> None:
        self._name = name
        self._patience = patience
        self._expected = expected
        self._failed = failed or self._log
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """How many tasks are under way."""
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        """Do the work in a task of its own."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    @asynccontextmanager
    async def during(self, work: Coroutine[Any, Any, Any]) -> AsyncIterator[None]:
        """Do the work while the block runs; cancel it at the end and wait until it is done."""
        task = self.start(work)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def settled(self) -> None:
        """Return when everything started is done, also what was started meanwhile."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def finish(self) -> None:
        """Wait until everything is settled, for ``patience`` seconds; then cancel the rest.

        Nothing goes on either when this is cancelled.
        """
        try:
            async with asyncio.timeout(self._patience):
                await self.settled()
        except TimeoutError:
            _log.error("%s: %d took too long and were cancelled", self._name, len(self))
        finally:
            await self.cancel()

    async def cancel(self) -> None:
        """Cancel everything, also what is started meanwhile, and wait until it is done."""
        while tasks := set(self._tasks):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, self._expected):
            self._failed(error)

    def _log(self, error: BaseException) -> None:
        # Messages of errors may hold an address with its token, which a handler would print.
        told = "".join(traceback.format_exception(error)).rstrip()
        _log.error("%s failed: %s", self._name, redacted_text(told))


async def together(work: Iterable[Coroutine[Any, Any, _Result]]) -> list[_Result]:
    """The results of all of it, done at once and in its order; one alone needs no task for that."""
    parts = [*work]
    return [await parts[0]] if len(parts) == 1 else await asyncio.gather(*parts)


async def outcomes(work: Iterable[Coroutine[Any, Any, _Result]]) -> list[_Result | BaseException]:
    """The same where what fails is a result as well: the error that it failed with.

    Whoever cancels this cancels all of it.
    """
    parts = [*work]
    if len(parts) != 1:
        return await asyncio.gather(*parts, return_exceptions=True)
    try:
        return [await parts[0]]
    except Exception as error:
        return [error]
