"""Rounds: work on one thing at a time, and once for all who ask before it begins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Done = TypeVar("_Done")

Work = Callable[[Callable[[], None], _Done | None], Awaitable[_Done]]
"""Gets ``begin``, to call before it looks at anything, and what the round right before it did."""


class Rounds(Generic[_Key, _Done]):
    """Runs work by key, one round after the other.

    Whoever asks while a round waits for its turn shares it; whoever asks after
    it began gets the next one, which may find that nothing is left to do.
    """

    def __init__(self) -> None:
        self._waiting: dict[_Key, asyncio.Task[None]] = {}
        self._newest: dict[_Key, asyncio.Task[None]] = {}
        self._last: dict[_Key, _Done] = {}

    def begin(self, key: _Key, work: Work[_Done]) -> asyncio.Task[None]:
        """A round that begins after this is called; its end is waited for with ``ended``."""
        task = self._waiting.get(key)
        if task is None:
            round_ = self._round(key, work, self._newest.get(key))
            task = self._waiting[key] = self._newest[key] = asyncio.create_task(round_)
            task.add_done_callback(_heard)
        return task

    async def _round(self, key: _Key, work: Work[_Done], before: asyncio.Task[None] | None) -> None:
        mine = asyncio.current_task()

        def begin() -> None:
            if self._waiting.get(key) is mine:
                del self._waiting[key]

        try:
            if before is not None:
                await asyncio.wait((before,))
            done = await work(begin, self._last.pop(key, None))
            begin()
            if key in self._waiting:
                self._last[key] = done
        finally:
            begin()
            if self._newest.get(key) is mine:
                del self._newest[key]


async def ended(rounds: Iterable[asyncio.Task[None]]) -> None:
    """Wait for these rounds; fails as soon as one of them does.

    Whoever waits and goes away leaves them to the others.
    """
    if waiting := set(rounds):
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()


def _heard(task: asyncio.Task[None]) -> None:
    """Those who wait are told; that all of them went away is no error of its own."""
    if not task.cancelled():
        task.exception()
