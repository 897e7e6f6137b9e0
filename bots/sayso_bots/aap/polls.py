"""Long polls: calls that wait until a request ends, their time is over, or the server stops."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sayso.stores.inbox import Inbox
from sayso.stores.ports import Record
from sayso_bots.aap.errors import too_many

LONGEST_WAIT = 30.0


class Polls:
    """Waits of one process, as many at once for each instance as it may have."""

    def __init__(self, inbox: Inbox, *, most: int) -> None:
        self._inbox = inbox
        self._most = most
        self._waiting: Counter[str] = Counter()
        self._stopping = asyncio.Event()

    def end(self) -> None:
        """End all waits, now and from now on: whoever waited asks again where somebody serves."""
        self._stopping.set()

    async def wait(self, instance_id: str, record: Record, seconds: float) -> None:
        """Return when the request has ended, or after so many seconds.

        Raises:
            AapError: too many calls of this instance wait already.
        """
        if record.ending is not None or seconds <= 0 or self._stopping.is_set():
            return
        with self._place_for(instance_id):
            question_id = record.request.question_id
            future = self._inbox.expect(question_id)
            ended = asyncio.ensure_future(self._ended(question_id, record.seconds_left))
            stopped = asyncio.ensure_future(self._stopping.wait())
            waits: set[asyncio.Future[Any]] = {future, stopped, ended}
            try:
                async with asyncio.timeout(seconds):
                    while waits and not (future.done() or stopped.done()):
                        done, waits = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                        if ended in done and ended.exception() is not None:
                            return  # the store is away: whoever looks next says so
            except TimeoutError:
                pass
            finally:
                for one in (ended, stopped, future):
                    one.cancel()
                await asyncio.gather(ended, stopped, future, return_exceptions=True)
                self._inbox.forget(question_id, future)

    async def _ended(self, question_id: str, seconds_left: float) -> None:
        """Listen, then look: from now on its end rings."""
        await self._inbox.listening()
        self._inbox.due_in(question_id, max(0.0, seconds_left))
        await self._inbox.look([question_id])

    @contextmanager
    def _place_for(self, instance_id: str) -> Iterator[None]:
        if self._waiting[instance_id] >= self._most:
            raise too_many(1)
        self._waiting[instance_id] += 1
        try:
            yield
        finally:
            self._waiting[instance_id] -= 1
            if not self._waiting[instance_id]:
                del self._waiting[instance_id]
