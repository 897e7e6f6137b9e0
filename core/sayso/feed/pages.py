"""Older events of branches for many readers: a page is read once for all who want it then."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sayso.calls import RunRef
from sayso.stores.branch_log import LoggedEvent, Position
from sayso.stores.protocols import BranchLog

PAGE_EVENTS = 100
READS_AT_ONCE = 4
"""How many pages of older events one process reads at a time."""

# How many readers of pages take an event in one turn of the event loop, so that whatever else
# this process does, such as answering presses, goes on between them.
_TAKERS_A_TURN = 32
# A herd comes back within seconds; what it has read is not kept for longer, nor more than this.
_KEPT_SECONDS = 5.0
_KEPT_BYTES = 8 * 1024 * 1024


class Growing(Protocol):
    """A branch that somebody follows."""

    run: RunRef
    last: int


@dataclass(frozen=True, slots=True)
class Page:
    """Events that come after a position, and where the branch ended when they were asked for."""

    events: Sequence[LoggedEvent]
    end: int
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(event.size for event in self.events))


_Key = tuple[Growing, Position]


class Pages:
    """Reads pages: a few at a time, each once for all who want it while it is read and soon after.

    An event never changes, so a page stays true; one that was read at the end
    of the log is only shorter than it would be now.
    """

    def __init__(self, log: BranchLog) -> None:
        self._log = log
        self._turns = asyncio.Semaphore(READS_AT_ONCE)
        self._takers = asyncio.Semaphore(_TAKERS_A_TURN)
        self._reading: dict[_Key, asyncio.Task[Page]] = {}
        self._kept: OrderedDict[_Key, Page] = OrderedDict()
        self._size = 0

    async def after(self, branch: Growing, position: Position) -> Page:
        """The events that come after the position; none when it is the end of the log.

        Raises:
            EventsMissedError: events after the position are no longer kept.
            StoreUnreachableError: the store does not answer.
        """
        key = (branch, position)
        if (kept := self._kept.get(key)) is not None:
            return kept
        task = self._reading.get(key)
        if task is None:
            task = self._reading[key] = asyncio.create_task(self._read(key))
            task.add_done_callback(lambda done: self._has_read(key, done))
        # One of them going away is no reason to stop reading for the others.
        return await asyncio.shield(task)

    async def turn(self) -> None:
        """Wait until it is one's turn to take an event of a page."""
        async with self._takers:
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        """Stop reading."""
        tasks = list(self._reading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, key: _Key) -> Page:
        branch, position = key
        async with self._turns:
            end = branch.last
            return Page(await self._log.after(branch.run, position, count=PAGE_EVENTS), end)

    def _has_read(self, key: _Key, task: asyncio.Task[Page]) -> None:
        del self._reading[key]
        if task.cancelled() or task.exception() is not None:
            return
        page = task.result()
        if not page.events:
            return  # it may be outdated at once
        self._kept[key] = page
        self._size += page.size
        asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._forget, key, page)
        while self._size > _KEPT_BYTES:
            self._forget(*next(iter(self._kept.items())))

    def _forget(self, key: _Key, page: Page) -> None:
        if self._kept.get(key) is page:
            del self._kept[key]
            self._size -= page.size
