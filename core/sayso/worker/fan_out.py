"""Fan-out: a request gets to every place of its route, with those of its run in the same batch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from sayso.cards.bundle import MOST_IN_BUNDLE
from sayso.stores.protocols import Record, RequestStore
from sayso.tasks import Background, outcomes
from sayso.worker.post_cards import CardPoster
from sayso.worker.request_log import log_not_posted
from sayso.worker.routing import Deadlines, Route, shown_until

_Key = TypeVar("_Key", bound=Hashable)
_Item = TypeVar("_Item")

Results = Sequence[str | BaseException]


@dataclass(slots=True)
class _Group(Generic[_Item]):
    """A group of items that is gathered, and the result of each."""

    items: list[_Item]
    results: asyncio.Future[Results]
    full: asyncio.Event = field(default_factory=asyncio.Event)


class Batcher(Generic[_Key, _Item]):
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
        """Return the result of the item, once its group is done."""
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request to be shown, until a time of the event loop."""

    record: Record
    until: float


class FanOut:
    """Shows requests. Those of one bundle that come within ``window`` share their messages."""

    def __init__(
        self,
        store: RequestStore,
        deadlines: Deadlines,
        showing: CardPoster,
        *,
        window: timedelta,
        background: Background,
        pause: Callable[[float], Awaitable[object]],
    ) -> None:
        self._store = store
        self._deadlines = deadlines
        self._showing = showing
        self._gathers = window > timedelta(0)
        self._gathering: Batcher[tuple[str, Route], _Asked] = Batcher(
            self._show_open, window=window, background=background, pause=pause
        )

    async def show(self, record: Record, route: Route, *, is_alone: bool = False) -> str:
        """Show the request wherever its route leads; why that is nowhere, empty otherwise.

        With ``is_alone`` it shares no message with others.

        Raises:
            ShutdownError: the desk stops before it is shown.
            StoreUnreachableError: its copies could not be noted.
        """
        record = await self._deadlines.shortened(record, route.seconds)
        asked = _Asked(record, shown_until(record))
        if self._gathers and record.request.bundle and not is_alone:
            return await self._gathering.take((record.request.bundle, route), asked)
        (result,) = await self._show((asked,), route)
        if isinstance(result, BaseException):
            raise result
        return result

    async def _show_open(
        self, key: tuple[str, Route], asked: Sequence[_Asked]
    ) -> list[str | BaseException]:
        """Show those of the requests that are still open; for each what ``show`` says or raises."""
        _, route = key
        ids = [one.record.request.question_id for one in asked]
        now = await outcomes(map(self._store.get, ids))
        # Some may have ended while they gathered: nobody has to see them any more.
        is_open = [isinstance(one, Record) and one.ending is None for one in now]
        waiting = [one for one, still in zip(asked, is_open, strict=True) if still]
        said = iter(await self._show(waiting, route) if waiting else ())
        return [
            next(said) if still else one if isinstance(one, BaseException) else ""
            for one, still in zip(now, is_open, strict=True)
        ]

    async def _show(self, asked: Sequence[_Asked], route: Route) -> list[str | BaseException]:
        """For each why it is shown nowhere, empty where it is, or the error that showing it met."""
        records, untils = [one.record for one in asked], [one.until for one in asked]
        by_place = await outcomes(self._showing.show(records, place, untils) for place in route.to)
        results: list[str | BaseException] = []
        for number, record in enumerate(records):
            said = [one if isinstance(one, BaseException) else one[number] for one in by_place]
            for place, one in zip(route.to, said, strict=True):
                if one and isinstance(one, str):
                    log_not_posted(record.request, place, one)
            errors = [one for one in said if isinstance(one, BaseException)]
            results.append(errors[0] if errors else _reason([str(one) for one in said]))
        return results


def _reason(problems: Sequence[str]) -> str:
    """Why a request is shown nowhere, empty when it is shown in one place at least."""
    if not problems:
        return "its route leads nowhere: add places to its `to`"
    return "" if "" in problems else "; ".join(problems)
