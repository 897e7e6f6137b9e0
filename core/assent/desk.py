"""The desk: shows requests, takes presses, keeps cards up to date."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from assent.approvers import Approvers
from assent.backend import Backend, branch_topic
from assent.calls import new_id
from assent.cards import BACK, MORE, SHOW_ALL, Card, Choice, Ended, Open
from assent.delivery import Delivery
from assent.errors import (
    BusLostError,
    DeliveryError,
    StoreUnreachableError,
    UnknownRequestError,
    UnreadableEventError,
)
from assent.events import Event, RequestEnding, UserInputRequest
from assent.lanes import LanesClosedError
from assent.memory import utc_now
from assent.places import Answer, Answered, Place, Press
from assent.ports import Adapter, Clock, Copy, Found, Job, Record
from assent.routes import Route, Routes
from assent.terms import Terms

_log = logging.getLogger(__name__)

_SWEEP_SECONDS = 1.0
_GROUPS_SECONDS = 60.0
_RETRY_SECONDS = 0.5
_AT_ONCE = 10_000
# An undeliverable request ends this long before it would expire, or a tenth of its time.
_MARGIN_SECONDS = 1.0
_REVEAL_SECONDS = 2.2
_STOP_SECONDS = 8.0


class Desk:
    """Takes requests from the outbox and presses from the adapters.

    The order for a press: find the request by its handle, see that handle,
    place and message belong together, authorise the actor, settle, and only
    then answer and update the cards. A refused press consumes nothing.
    """

    def __init__(
        self,
        backend: Backend,
        adapters: Iterable[Adapter],
        routes: Routes,
        *,
        terms: Terms | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self.name = new_id()
        self._backend = backend
        self._adapters = {adapter.platform: adapter for adapter in adapters}
        self._routes = routes
        self._approvers = Approvers(routes, self._adapters)
        self._delivery = Delivery(
            backend.copies,
            backend.leases,
            self._adapters,
            routes,
            terms=terms or Terms(),
            clock=clock,
        )
        self._clock = clock
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Work until cancelled; then finish what is under way, within seconds."""
        upkeep = [
            asyncio.create_task(self._sweep()),
            asyncio.create_task(self._read_groups()),
        ]
        try:
            async with self._backend.outbox.jobs(self.name) as jobs:
                try:
                    async for job in jobs:
                        await self._room.acquire()
                        self._start(self._work(job)).add_done_callback(self._make_room)
                finally:
                    await self._finish()
        finally:
            for task in upkeep:
                task.cancel()
            await asyncio.gather(*upkeep, return_exceptions=True)

    async def press(self, press: Press) -> Answer:
        """Decide on a press; what to tell the presser.

        Raises:
            ReplayedCallbackError: the same callback was here before.
            StoreUnreachableError: nothing was stored: do not acknowledge the press.
        """
        shown = self._delivery.shown(press.handle)
        if shown is None or not _stands_there(shown.copy, press):
            return await self._look_closer(press, may=None)
        # This desk posted the card: all of the order but settling needs no look in the store, and
        # settling looks there at the handle, the delivery and the ending in one step.
        may = await self._approvers.include(press.actor, shown.request)
        if may and (choice := self._decision(press, shown)):
            with suppress(UnknownRequestError):
                return await self._settle(press, shown, choice, looked_up=False)
        return await self._look_closer(press, may=may)

    async def _look_closer(self, press: Press, *, may: bool | None) -> Answer:
        """Decide on a press with what the store knows; ``may`` where the actor was looked up."""
        found = await self._backend.copies.find(press.handle, delivery=press.delivery)
        if found is None:
            return Answer(Answered.UNKNOWN, "This card is no longer known. Nothing was decided.")
        if not _stands_there(found.copy, press):
            return Answer(Answered.REFUSED, "This button does not belong to this message.")
        copy = replace(found.copy, message_id=press.message.message_id)
        if found.ending is not None:
            return self._late(copy, found.request, found.ending)
        if may is None:
            may = await self._approvers.include(press.actor, found.request)
        if not may:
            return Answer(Answered.REFUSED, "You may not decide this one. It stays open.")
        if not found.copy.message_id:
            # The desk that posted it did not live to say so: now the card can be kept up to date.
            await self._backend.copies.mark(copy)
        card = self._delivery.card(copy, found.request, Open())
        if press.choice == BACK.key:
            self._bring_up_to_date(copy, found.request, Open())
            return Answer(Answered.CONFIRM, "")
        if press.choice == MORE.key and card.more:
            self._bring_up_to_date(copy, found.request, Open(more=True))
            return Answer(Answered.CONFIRM, "")
        choice = card.choice(press.choice)
        if choice is None:
            return _not_offered(card, press)
        if choice.key == SHOW_ALL.key:
            return await self._reveal(press, copy, found.request, card)
        if choice.stores and not press.confirmed:
            self._bring_up_to_date(copy, found.request, Open(confirming=choice))
            return Answer(Answered.CONFIRM, f"{choice.label} takes a second press: see the card.")
        return await self._settle(press, replace(found, copy=copy), choice, looked_up=True)

    async def moved(self, old: Place, new: Place) -> None:
        """A chat has a new address: remember it and post its open cards there again.

        Raises:
            StoreUnreachableError: nothing was noted.
        """
        await self._backend.leases.move(old, new)
        for record in await self._backend.watch.pending():
            for copy in record.copies:
                if (copy.place.platform, copy.place.address) == (old.platform, old.address):
                    self._start(self._show_again(record, copy.place))

    def _decision(self, press: Press, shown: Found) -> Choice | None:
        """The choice, when this press on a card shown here ends the request; None: look closer."""
        choice = self._delivery.card(shown.copy, shown.request, Open()).choice(press.choice)
        if choice is None or choice.key == SHOW_ALL.key or (choice.stores and not press.confirmed):
            return None
        return choice

    async def _settle(
        self, press: Press, found: Found, choice: Choice, *, looked_up: bool
    ) -> Answer:
        copy, request, now = found.copy, found.request, self._clock()
        answer = request.answer(choice, by=press.actor, at=now)
        rule = None
        if choice.lasts is not None:
            until = now + choice.lasts
            rule = request.to_remember(choice, by=press.actor, at=now, until=until)
        settled = await self._backend.store.settle(
            request.question_id,
            answer,
            remember=rule,
            handle="" if looked_up else copy.handle,
            delivery="" if looked_up else press.delivery,
        )
        if not settled.first:
            return self._late(copy, request, settled.ending)
        outcome = answer.outcome.value.capitalize()
        if settled.heard == 0:
            return Answer(
                Answered.UNHEARD,
                f"{outcome} and recorded, but nobody is waiting for it right now.",
            )
        return Answer(Answered.RECORDED, f"{outcome}.")

    async def _reveal(
        self, press: Press, copy: Copy, request: UserInputRequest, card: Card
    ) -> Answer:
        adapter = self._adapters[copy.place.platform]
        try:
            async with asyncio.timeout(_REVEAL_SECONDS):
                await adapter.reveal(press, card)
        except (DeliveryError, TimeoutError) as error:
            reason = error.reason if isinstance(error, DeliveryError) else "it took too long"
            return Answer(Answered.REFUSED, f"It could not be shown in full: {reason}.")
        seen = replace(copy, revealed=True)
        await self._backend.copies.mark(seen)
        self._bring_up_to_date(seen, request, Open())
        return Answer(Answered.SHOWN, "")

    def _late(self, copy: Copy, request: UserInputRequest, ending: RequestEnding) -> Answer:
        state = self._delivery.ended(request, ending)
        self._bring_up_to_date(copy, request, state)
        by = f" by {state.who}" if state.who else ""
        return Answer(Answered.LATE, f"Too late: this was already {state.outcome}{by}.")

    def _bring_up_to_date(self, copy: Copy, request: UserInputRequest, state: Ended | Open) -> None:
        self._start(self._delivery.update(copy, request, state))

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
            except (UnreadableEventError, UnknownRequestError) as error:
                # Of a kind these bots do not know, or gone: no repetition makes it better.
                _log.error("a job of the desk cannot be done: %s", error)
                await self._backend.outbox.done(job)
                return
            else:
                return

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
        await self._observe(request, request)
        route = self._routes.find(request)
        if route is None:
            reason = (
                f"no route for tool {request.subject!r} of agent {request.run.agent_id!r}: "
                "add a [[route]] to assent.toml"
            )
        else:
            reason = await self._show(record, route)
        if reason:
            await self._undeliverable(request, reason)

    async def _undeliverable(self, request: UserInputRequest, reason: str) -> None:
        ending = request.undeliverable(at=self._clock(), reason=reason)
        await self._backend.store.settle(request.question_id, ending)

    async def _show(self, record: Record, route: Route) -> str:
        """Show the request wherever its route leads; why that is nowhere, empty otherwise."""
        if route.seconds is not None:
            record = await self._shorten(record, route.seconds)
        left = record.seconds_left
        until = asyncio.get_running_loop().time() + left - min(_MARGIN_SECONDS, left / 10)
        problems = await asyncio.gather(
            *(self._delivery.show(record, place, until) for place in route.to)
        )
        if not problems:
            return "its route leads nowhere: add places to its `to`"
        return "" if "" in problems else "; ".join(problems)

    async def _shorten(self, record: Record, seconds: float) -> Record:
        if record.seconds_left <= seconds:
            return record
        expires_at = await self._backend.watch.shorten(record.request.question_id, seconds)
        request = record.request.model_copy(update={"expires_at": expires_at})
        return replace(record, request=request, seconds_left=seconds)

    async def _show_again(self, record: Record, place: Place) -> None:
        until = asyncio.get_running_loop().time() + record.seconds_left
        problem = await self._delivery.show(record, place, until)
        if problem:
            _log.warning("a card could not follow its chat: %s", problem)

    async def _end(self, record: Record) -> None:
        if record.ending is None:
            return
        self._delivery.forget(record.copies)
        await self._observe(record.request, record.ending.observed)
        state = self._delivery.ended(record.request, record.ending)
        await asyncio.gather(
            *(self._delivery.update(copy, record.request, state) for copy in record.copies)
        )

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

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, LanesClosedError):
            _log.error("work of the desk failed", exc_info=error)

    def _make_room(self, _: asyncio.Task[None]) -> None:
        self._room.release()

    async def _finish(self) -> None:
        self._delivery.close()
        if not self._under_way:
            return
        _, late = await asyncio.wait(self._under_way, timeout=_STOP_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def _stands_there(copy: Copy, press: Press) -> bool:
    pressed = press.message
    return (
        copy.place.platform == pressed.place.platform
        and copy.place.address == pressed.place.address
        and copy.message_id in ("", pressed.message_id)
    )


def _not_offered(card: Card, press: Press) -> Answer:
    known = (*card.body.choices, *card.body.more, *([MORE] if card.body.more else []))
    if any(choice.key == press.choice for choice in known):
        return Answer(Answered.REFUSED, f"Not yet: {card.cut_notice}")
    return Answer(Answered.REFUSED, "This card has no such button.")
