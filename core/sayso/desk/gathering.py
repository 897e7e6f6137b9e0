"""What comes together is done together: a short wait after the first, then all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from sayso.cards.bundle import MOST_IN_BUNDLE
from sayso.tasks import Background

_Key = TypeVar("_Key", bound=Hashable)
_Item = TypeVar("_Item")

Results = Sequence[str | BaseException]


@dataclass(slots=True)
class _Group(Generic[_Item]):
    """What has gathered so far, and what came of each of them."""

    items: list[_Item]
    results: asyncio.Future[Results]
    full: asyncio.Event = field(default_factory=asyncio.Event)


class Gathering(Generic[_Key, _Item]):
    """Gathers items of one key that come within ``window`` of the first of them.

    A group that is full goes at once, and whoever comes then begins another one.
    ``work`` says of each item of a group what came of it, or with which error.
    """

    def __init__(
        self,
        work: Callable[[_Key, Sequence[_Item]], Awaitable[Results]],
        *,
        window: timedelta,
        background: Background,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        most: int = MOST_IN_BUNDLE,
    ) -> None:
        self._work = work
        self._seconds = window.total_seconds()
        self._background = background
        self._pause = pause
        self._most = most
        self._groups: dict[_Key, _Group[_Item]] = {}

    async def take(self, key: _Key, item: _Item) -> str:
        """What came of the item, once its group is done."""
        group = self._groups.get(key)
        if group is None:
            results: asyncio.Future[Results] = asyncio.get_running_loop().create_future()
            group = self._groups[key] = _Group([], results)
            self._background.start(self._go(key, group))
        number = len(group.items)
        group.items.append(item)
        if len(group.items) == self._most:
            del self._groups[key]
            group.full.set()
        result = (await asyncio.shield(group.results))[number]
        if isinstance(result, BaseException):
            raise result
        return result

    async def _go(self, key: _Key, group: _Group[_Item]) -> None:
        try:
            await self._wait(group.full)
            if self._groups.get(key) is group:
                del self._groups[key]
            group.results.set_result(await self._work(key, group.items))
        except Exception as error:
            group.results.set_exception(error)
        finally:
            if self._groups.get(key) is group:
                del self._groups[key]
            if not group.results.done():
                group.results.cancel()

    async def _wait(self, full: asyncio.Event) -> None:
        """Until the window is over or the group is full."""
        ways = [asyncio.ensure_future(self._pause(self._seconds)), asyncio.create_task(full.wait())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
