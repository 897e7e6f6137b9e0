"""Long polls: calls that wait until a request ends, their time is over, or the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any

from aiohttp import web

from sayso.stores.backend import Backend
from sayso.stores.inbox import Inbox
from sayso.stores.protocols import Record
from sayso_bots.process.sources import gone

LONGEST_WAIT = 30.0
"""Many proxies give up a call that is not answered within 60 s."""


class Polls:
    """Waits of one process; ``place_for`` a caller is taken for as long as one of its waits is.

    They share the subscription of an inbox, and look in the store once each.
    """

    def __init__(self, backend: Backend, place_for: Callable[[str], AbstractContextManager[None]]):
        self._backend = backend
        self._place_for = place_for
        self._stopping = asyncio.Event()

    def end(self) -> None:
        """End all waits, now and from now on: whoever waited asks again where somebody serves."""
        self._stopping.set()

    async def wait(self, request: web.Request, caller: str, record: Record, seconds: float) -> None:
        """Return when the record's request has ended, after so many seconds, or without a caller.

        What ``place_for`` raises where there is none for this caller is raised here.
        """
        if record.ending is not None or seconds <= 0 or self._stopping.is_set():
            return
        with self._place_for(caller):
            await self._wait(request, record, seconds)

    async def _wait(self, request: web.Request, record: Record, seconds: float) -> None:
        question_id = record.request.question_id
        inbox = self._backend.inbox
        future = inbox.expect(question_id)
        looked = _begun(_look(inbox, question_id, record.seconds_left))
        others = [_begun(self._stopping.wait()), _begun(gone(request))]
        ends: set[asyncio.Future[Any]] = {future, *others}
        waits: set[asyncio.Future[Any]] = {looked, *ends}
        try:
            async with asyncio.timeout(seconds):
                while not any(one.done() for one in ends):
                    done, waits = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                    if looked in done and looked.exception() is not None:
                        return  # the store is away: whoever looks next says so
        except TimeoutError:
            pass
        finally:
            for one in (looked, future, *others):
                one.cancel()
            await asyncio.gather(looked, future, *others, return_exceptions=True)
            inbox.forget(question_id, future)


async def _look(inbox: Inbox, question_id: str, seconds_left: float) -> None:
    """Listen, then look: from now on its end rings."""
    await inbox.listening()
    inbox.due_in(question_id, max(0.0, seconds_left))
    await inbox.look([question_id])


def _begun(work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
    return asyncio.ensure_future(work)
