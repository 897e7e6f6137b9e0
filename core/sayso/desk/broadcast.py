"""Broadcast: a request gets to every place of its route, with those of its run that gathered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sayso.desk.deadlines import Deadlines, shown_until
from sayso.desk.event_log import log_not_posted
from sayso.desk.gathering import Gathering
from sayso.desk.routes import Route
from sayso.desk.showing import Showing
from sayso.stores.ports import Record, Store
from sayso.tasks import Background, outcomes


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request to be shown, until a time of the event loop."""

    record: Record
    until: float


class Broadcast:
    """Shows requests. Those of one bundle that come within ``window`` share their messages."""

    def __init__(
        self,
        store: Store,
        deadlines: Deadlines,
        showing: Showing,
        *,
        window: timedelta,
        background: Background,
        pause: Callable[[float], Awaitable[object]],
    ) -> None:
        self._store = store
        self._deadlines = deadlines
        self._showing = showing
        self._gathers = window > timedelta(0)
        self._gathering: Gathering[tuple[str, Route], _Asked] = Gathering(
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
