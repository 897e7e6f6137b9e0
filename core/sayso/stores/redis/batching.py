"""Commands that are issued together: one round trip for all of them, in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

_MAX_BATCH = 100

Words = tuple[bytes | str | int, ...]
_Order = tuple[Words, asyncio.Future[Any]]


class Batcher:
    """Sends what is issued within one turn of the event loop as one batch.

    At most ``max_batches`` are under way; the rest waits as long as others are answered. A
    command that nobody waits for any more is not sent.
    """

    def __init__(
        self, send: Callable[[Sequence[Words]], Awaitable[Sequence[Any]]], *, max_batches: int
    ) -> None:
        self._send = send
        self._max_batches = max_batches
        self._waiting: list[_Order] = []
        self._batches: set[asyncio.Task[None]] = set()
        self._answered = 0

    @property
    def waiting(self) -> int:
        """The number of commands that are not sent yet."""
        return len(self._waiting)

    def add(self, words: Words) -> asyncio.Future[Any]:
        """Send a command with the others; its reply, or the error that it raised."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._begin)
        reply: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((words, reply))
        return reply

    async def aclose(self, seconds: float, error: Exception) -> None:
        """Wait so long for the batches under way; what has no reply then fails with the error."""
        try:
            if self._batches:
                await asyncio.wait(self._batches, timeout=seconds)
        finally:
            _fail(self._waiting, error)
            batches = list(self._batches)
            for batch in batches:
                batch.cancel(error)
            await asyncio.gather(*batches, return_exceptions=True)

    def _begin(self) -> None:
        while self._waiting and len(self._batches) < self._max_batches:
            orders = [order for order in self._waiting[:_MAX_BATCH] if not order[1].done()]
            del self._waiting[:_MAX_BATCH]
            if orders:
                batch = asyncio.get_running_loop().create_task(self._run(orders))
                self._batches.add(batch)
                batch.add_done_callback(self._end)

    def _end(self, batch: asyncio.Task[None]) -> None:
        self._batches.discard(batch)
        self._begin()

    async def _run(self, orders: list[_Order]) -> None:
        answered = self._answered
        try:
            replies = await self._send([words for words, _ in orders])
        except asyncio.CancelledError as cancelled:
            reasons = [one for one in cancelled.args if isinstance(one, Exception)]
            _fail(orders, *(reasons or [ConnectionError("it was given up")]))
            raise
        except Exception as error:
            _fail(orders, error)
            if isinstance(error, TimeoutError) and self._answered == answered:
                _fail(self._waiting, error)
            return
        self._answered += 1
        for (_, reply), said in zip(orders, replies, strict=True):
            if reply.done():
                continue
            if isinstance(said, Exception):
                reply.set_exception(said)
            else:
                reply.set_result(said)


def _fail(orders: list[_Order], error: Exception) -> None:
    for _, reply in orders:
        if not reply.done():
            reply.set_exception(error)
