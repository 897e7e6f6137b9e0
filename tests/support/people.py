"""People who answer in a thread of their own, for callers in any loop or in none."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Self

from sayso.clock import utc_now
from sayso.events import Resolution, UserInputRequest
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.connect import open_store

Answering = Callable[[UserInputRequest], Resolution | None]


def allow(request: UserInputRequest) -> Resolution:
    """The answer of a person who allows everything."""
    assert isinstance(request, PermissionRequestEvent)
    return request.approve(by="slack:U0ALICE", at=utc_now())


def silent(_: UserInputRequest) -> None:
    """No answer."""


class People:
    """Answers what is asked on a store; ``asked`` and ``ended`` are what happened, in order."""

    def __init__(self, store_url: str, answer: Answering = allow) -> None:
        self._url = store_url
        self._answer = answer
        self.asked: queue.Queue[UserInputRequest] = queue.Queue()
        self.ended: queue.Queue[Resolution] = queue.Queue()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._live)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)

    def _live(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._work())

    async def _work(self) -> None:
        answering = asyncio.create_task(self._take())
        await self._stop.wait()
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)

    async def _take(self) -> None:
        async with open_store(self._url) as backend, backend.outbox.jobs("people") as jobs:
            async for job in jobs:
                record = await backend.store.get(job.question_id)
                await backend.outbox.done(job)
                if record is None:
                    continue
                if record.ending is not None:
                    self.ended.put(record.ending)
                elif job.kind == "ask":
                    self.asked.put(record.request)
                    if (said := self._answer(record.request)) is not None:
                        await backend.store.settle(job.question_id, said)
