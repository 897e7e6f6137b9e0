"""The desk: shows requests, takes presses, keeps cards up to date."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from sayso.always.terms import Terms
from sayso.calls import new_id
from sayso.chats.adapter import Adapter
from sayso.chats.places import Answer, Place, Press
from sayso.clock import Clock, utc_now
from sayso.desk.approvers import Approvers
from sayso.desk.attendance import attending
from sayso.desk.card_maker import CardMaker
from sayso.desk.delivery import Delivery
from sayso.desk.gathering import Together
from sayso.desk.lanes import LanesClosedError
from sayso.desk.notices import Notices
from sayso.desk.presses import Presses
from sayso.desk.routes import Route, Routes
from sayso.errors import (
    BusLostError,
    StoreUnreachableError,
    UnknownRequestError,
    UnreadableEventError,
)
from sayso.events import (
    Event,
    RequestUndeliverableEvent,
    UserInputRequest,
)
from sayso.questions.refusing import Refusals
from sayso.stores.backend import Backend
from sayso.stores.branch_log import LogKind
from sayso.stores.ports import Found, Job, Record
from sayso.stores.topics import branch_topic
from sayso.tasks import Background

_log = logging.getLogger(__name__)

_SWEEP_SECONDS = 1.0
_GROUPS_SECONDS = 60.0
_RETRY_SECONDS = 0.5
_AT_ONCE = 10_000
# An undeliverable request ends this long before it would expire, or a tenth of its time.
_MARGIN_SECONDS = 1.0
_STOP_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request to be shown, until a time of the event loop."""

    record: Record
    until: float


class Desk:
    """Takes requests from the outbox and presses from the adapters.

    With ``keeps_log`` requests and endings are written to their branch's log, too.
    Requests of one run that come within ``together`` of the first of them share
    a message; without it each has its own.
    """

    def __init__(
        self,
        backend: Backend,
        adapters: Iterable[Adapter],
        routes: Routes,
        *,
        terms: Terms | None = None,
        refusals: Refusals | None = None,
        clock: Clock = utc_now,
        keeps_log: bool = False,
        together: timedelta = timedelta(0),
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.name = new_id()
        self._backend = backend
        self._adapters = {adapter.platform: adapter for adapter in adapters}
        self._routes = routes
        self._approvers = Approvers(routes, self._adapters)
        self._background = Background(
            "work of the desk", patience=_STOP_SECONDS, expected=(LanesClosedError,)
        )
        refusals = refusals or Refusals()
        maker = CardMaker(self._adapters, routes, terms=terms or Terms(), refusals=refusals)
        self._delivery = Delivery(backend.copies, backend.leases, self._adapters, maker)
        self._notices = Notices(backend.bus, self._background)
        self._presses = Presses(
            backend,
            self._adapters,
            self._approvers,
            self._delivery,
            maker,
            self._notices,
            refusals=refusals,
            clock=clock,
            background=self._background,
        )
        self._clock = clock
        self._keeps_log = keeps_log
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._together: Together[tuple[str, Route], _Asked] | None = None
        if together > timedelta(0):
            self._together = Together(
                self._show_gathered,
                window=together,
                background=self._background,
                pause=pause,
            )

    async def run(self) -> None:
        """Work until cancelled; then finish what is under way, within seconds."""
        upkeep = [
            asyncio.create_task(self._sweep()),
            asyncio.create_task(self._read_groups()),
        ]
        try:
            async with (
                attending(self._backend.roster, self.name),
                self._backend.outbox.jobs(self.name) as jobs,
            ):
                try:
                    async for job in jobs:
                        await self._room.acquire()
                        self._background.start(self._work(job)).add_done_callback(self._make_room)
                finally:
                    self._delivery.close()
                    await self._background.finish()
        finally:
            for task in upkeep:
                task.cancel()
            await asyncio.gather(*upkeep, return_exceptions=True)

    async def press(self, press: Press) -> Answer:
        """Decide on a press; what to tell the presser. See ``Presses``.

        Raises:
            ReplayedCallbackError: the same callback was here before.
            StoreUnreachableError: nothing was stored: do not acknowledge the press.
        """
        return await self._presses.take(press)

    async def moved(self, old: Place, new: Place) -> None:
        """A chat has a new address: remember it and post its open cards there again.

        Raises:
            StoreUnreachableError: nothing was noted.
        """
        await self._backend.leases.move(old, new)
        messages: dict[tuple[str, ...], tuple[Place, list[Record]]] = {}
        for record in await self._backend.watch.pending():
            for copy in record.copies:
                if (copy.place.platform, copy.place.address) == (old.platform, old.address):
                    messages.setdefault(copy.handles, (copy.place, []))[1].append(record)
        for place, records in messages.values():
            self._background.start(self._show_again(records, place))

    async def _work(self, job: Job) -> None:
        """Do one job; while the store is away it waits, whatever else goes wrong ends it."""
        while True:
            try:
                record = await self._backend.store.get(job.question_id)
                if record is not None:
                    await self._do(job, record)
                await self._backend.outbox.done(job)
            except StoreUnreachableError as error:
                _log.warning("the desk waits for the store: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
            except UnreadableEventError as error:
                _log.error("a job of the desk cannot be done: %s", error)
                if await self._refused(job, error):
                    return
            except UnknownRequestError as error:
                _log.error("a job of the desk cannot be done: %s", error)
                await self._backend.outbox.done(job)
                return
            else:
                return

    async def _refused(self, job: Job, error: UnreadableEventError) -> bool:
        """End a request of a kind that these bots do not know; False while the store is away."""
        ending = RequestUndeliverableEvent(
            request_id=job.question_id,
            source_name=error.source_name,
            decided_at=self._clock(),
            reason=f"the bots do not know this kind of question: {error}; "
            "name its module under [questions] types in sayso.toml",
        )
        try:
            if job.kind == "ask":
                with suppress(UnreadableEventError, UnknownRequestError):
                    await self._backend.store.settle(job.question_id, ending)
            await self._backend.outbox.done(job)
        except StoreUnreachableError:
            await asyncio.sleep(_RETRY_SECONDS)
            return False
        return True

    async def _do(self, job: Job, record: Record) -> None:
        try:
            await (self._ask(record) if job.kind == "ask" else self._end(record))
        except (StoreUnreachableError, LanesClosedError):
            raise
        except Exception:
            # A job that cannot be done must not come back for ever, nor its asker wait in vain.
            _log.exception("a job of the desk failed")
            if job.kind == "ask":
                await self._undeliverable(record.request, "the bots failed; see their log")

    async def _ask(self, record: Record) -> None:
        request = record.request
        if record.ending is not None:
            return
        await self._write(request, "request", request)
        await self._observe(request, request)
        route = self._routes.find(request)
        if route is None:
            reason = (
                f"no route for tool {request.subject!r} of agent {request.run.agent_id!r}: "
                "add a [[route]] to sayso.toml"
            )
        else:
            self._notices.routed(request, route)
            asked = await self._asked(record, route)
            if self._together is not None and request.bundle:
                reason = await self._together.take((request.bundle, route), asked)
            else:
                (reason,) = _said(await self._show([asked], route))
        if reason:
            await self._undeliverable(request, reason)

    async def _undeliverable(self, request: UserInputRequest, reason: str) -> None:
        ending = request.undeliverable(at=self._clock(), reason=reason)
        await self._backend.store.settle(request.question_id, ending)

    async def _asked(self, record: Record, route: Route) -> _Asked:
        """The request, and until when its route lets it be shown."""
        if route.seconds is not None:
            record = await self._shorten(record, route.seconds)
        left = record.seconds_left
        until = asyncio.get_running_loop().time() + left - min(_MARGIN_SECONDS, left / 10)
        return _Asked(record, until)

    async def _show_gathered(
        self, key: tuple[str, Route], asked: Sequence[_Asked]
    ) -> list[str | BaseException]:
        """Show those of the requests that are still open; for each what ``_show`` says."""
        _, route = key
        ids = [one.record.request.question_id for one in asked]
        now = await asyncio.gather(*map(self._backend.store.get, ids), return_exceptions=True)
        # Some may have ended while they gathered: nobody has to see them any more.
        is_open = [isinstance(one, Record) and one.ending is None for one in now]
        waiting = [one for one, still in zip(asked, is_open, strict=True) if still]
        said = iter(await self._show(waiting, route) if waiting else ())
        return [
            next(said) if still else one if isinstance(one, BaseException) else ""
            for one, still in zip(now, is_open, strict=True)
        ]

    async def _show(self, asked: Sequence[_Asked], route: Route) -> list[str | BaseException]:
        """Show the requests wherever their route leads; for each why that is nowhere.

        That is empty where it is shown, and an error where showing it failed with one.
        """
        records, untils = [one.record for one in asked], [one.until for one in asked]
        by_place = await asyncio.gather(
            *(self._delivery.show(records, place, untils) for place in route.to),
            return_exceptions=True,
        )
        results: list[str | BaseException] = []
        for number in range(len(asked)):
            said = [one if isinstance(one, BaseException) else one[number] for one in by_place]
            errors = [one for one in said if isinstance(one, BaseException)]
            results.append(errors[0] if errors else _reason([str(one) for one in said]))
        return results

    async def _shorten(self, record: Record, seconds: float) -> Record:
        if record.seconds_left <= seconds:
            return record
        expires_at = await self._backend.watch.shorten(record.request.question_id, seconds)
        request = record.request.model_copy(update={"expires_at": expires_at})
        return replace(record, request=request, seconds_left=seconds)

    async def _show_again(self, records: Sequence[Record], place: Place) -> None:
        now = asyncio.get_running_loop().time()
        untils = [now + record.seconds_left for record in records]
        for problem in await self._delivery.show(records, place, untils):
            if problem:
                _log.warning("a card could not follow its chat: %s", problem)

    async def _end(self, record: Record) -> None:
        if record.ending is None:
            return
        self._delivery.forget(record.copies)
        # Another desk may be slow with the request itself: it stands before its ending.
        await self._write(record.request, "request", record.request)
        await self._write(record.request, "ending", record.ending)
        if record.ending.observed is not record.ending:
            await self._write(record.request, "outcome", record.ending.observed)
        await self._observe(record.request, record.ending.observed)
        ended = [Found(copy, record.request, record.ending) for copy in record.copies]
        await asyncio.gather(*map(self._delivery.update, ended))

    async def _write(self, request: UserInputRequest, kind: LogKind, event: Event) -> None:
        """Write to the branch's log; jobs come at least once, the log takes each event once."""
        if self._keeps_log:
            await self._backend.log.append(request.run, request.question_id, kind, event)

    async def _observe(self, request: UserInputRequest, event: Event) -> None:
        try:
            await self._backend.bus.publish(branch_topic(request.run), event)
        except BusLostError as error:
            _log.warning("observers missed an event: %s", error)

    async def _sweep(self) -> None:
        while True:
            seconds = None
            try:
                seconds = await self._backend.watch.expire()
            except StoreUnreachableError as error:
                _log.warning("expired requests are not ended yet: %s", error)
            except Exception:
                _log.exception("expired requests are not ended yet")
            await asyncio.sleep(min(max(seconds or _SWEEP_SECONDS, 0.05), _SWEEP_SECONDS))

    async def _read_groups(self) -> None:
        while True:
            try:
                await self._approvers.refresh()
            except Exception:
                _log.exception("the groups of approvers were not read")
            await asyncio.sleep(_GROUPS_SECONDS)

    def _make_room(self, _: asyncio.Task[None]) -> None:
        self._room.release()


def _said(results: Sequence[str | BaseException]) -> list[str]:
    """What was said of each of them; the first error is raised."""
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def _reason(problems: Sequence[str]) -> str:
    """Why a request is shown nowhere, empty when it is shown in one place at least."""
    if not problems:
        return "its route leads nowhere: add places to its `to`"
    return "" if "" in problems else "; ".join(problems)
