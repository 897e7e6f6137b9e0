"""Jobs: what the outbox wants done is done, or ends in a refusal that says why."""

from __future__ import annotations

import logging
from contextlib import suppress

from sayso.clock import Clock
from sayso.errors import RequestNotFoundError, StoreUnreachableError, UnreadableEventError
from sayso.events import Event, RequestUndeliverableEvent, Resolution, UserInputRequest
from sayso.seldom import Seldom
from sayso.stores.backend import Backend
from sayso.stores.branch_log import LogKind
from sayso.stores.protocols import Found, Job, Record
from sayso.worker.activity_events import ActivityEvents
from sayso.worker.context import InteractionPriority
from sayso.worker.fan_out import FanOut
from sayso.worker.poison_guard import PoisonedError, PoisonGuard
from sayso.worker.post_cards import CardPoster
from sayso.worker.reminders import Reminders
from sayso.worker.request_log import log_job, log_not_posted
from sayso.worker.routing import Routes
from sayso.worker.send_queue import ShutdownError, Timer
from sayso.worker.update_cards import CardUpdater

_log = logging.getLogger(__name__)

_RETRY_SECONDS = 0.5


class JobRunner:
    """Shows requests, brings their cards up to date, and tells those who follow a branch."""

    def __init__(
        self,
        backend: Backend,
        routes: Routes,
        broadcast: FanOut,
        showing: CardPoster,
        delivery: CardUpdater,
        calm: InteractionPriority,
        notices: ActivityEvents,
        caution: PoisonGuard,
        reminders: Reminders,
        *,
        clock: Clock,
        timer: Timer,
        keeps_log: bool,
    ) -> None:
        self._backend = backend
        self._routes = routes
        self._broadcast = broadcast
        self._showing = showing
        self._delivery = delivery
        self._calm = calm
        self._notices = notices
        self._caution = caution
        self._reminders = reminders
        self._clock = clock
        self._timer = timer
        self._keeps_log = keeps_log
        self._waits = Seldom(_log)

    async def do(self, job: Job) -> None:
        """Do one job; while the store is away it waits, whatever else goes wrong twice ends it.

        Raises:
            ShutdownError: the desk stops before it is done.
        """
        with self._caution.with_job(job):
            await self._do(job)

    async def _do(self, job: Job) -> None:
        failures, is_logged = 0, job.again
        if job.kind == "end":
            await self._calm.turn()
        while True:
            try:
                record = await self._backend.store.get(job.question_id)
                if record is not None:
                    if not is_logged:
                        log_job(job, record)
                        is_logged = True
                    await self._try(job, record)
                    await self._showing.arrived(job.question_id)
                await self._backend.outbox.done(job)
            except StoreUnreachableError as error:
                self._waits.say(f"the desk waits for the store: {error}")
                await self._timer.sleep(_RETRY_SECONDS)
            except UnreadableEventError as error:
                _log.error("a job of the desk cannot be done: %s", error)
                if await self._refused(job, error):
                    return None
            except RequestNotFoundError as error:
                _log.error("a job of the desk cannot be done: %s", error)
                return await self._put_aside(job)
            except ShutdownError:
                raise
            except Exception:
                # Not even its request can be read: that expires by itself.
                _log.exception("a job of the desk failed")
                failures += 1
                if failures == 2:
                    return await self._put_aside(job)
                await self._timer.sleep(_RETRY_SECONDS)
            else:
                return None

    async def _put_aside(self, job: Job) -> None:
        """Let nobody have the job again."""
        while True:
            try:
                return await self._backend.outbox.done(job)
            except StoreUnreachableError as error:
                self._waits.say(f"the desk waits for the store: {error}")
                await self._timer.sleep(_RETRY_SECONDS)

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
                with suppress(UnreadableEventError, RequestNotFoundError):
                    await self._backend.store.settle(job.question_id, ending)
            await self._backend.outbox.done(job)
        except StoreUnreachableError:
            await self._timer.sleep(_RETRY_SECONDS)
            return False
        return True

    async def _try(self, job: Job, record: Record) -> None:
        """Do the job, in two tries; what fails twice is put aside, and its asker is told."""
        work = self._ask if job.kind == "ask" else self._end
        for tries_left in (1, 0):
            try:
                await work(record)
            except (StoreUnreachableError, RequestNotFoundError, ShutdownError):
                raise
            except PoisonedError as error:
                _log.error("a job of the desk is put aside: %s", error)
                break
            except Exception:
                _log.exception("a job of the desk failed")
                if tries_left:
                    await self._timer.sleep(_RETRY_SECONDS)
            else:
                return
        if job.kind == "ask":
            await self._undeliverable(record.request, "the bots failed; see their log")

    async def _ask(self, record: Record) -> None:
        request = record.request
        if record.ending is not None:
            # Whoever showed it may not have lived to see how it ended.
            await self._bring_up_to_date(record, record.ending)
            return
        await self._write(request, "request", request)
        route = self._routes.find(request)
        if route is None:
            reason = (
                f"no route for tool {request.subject!r} of agent {request.run.agent_id!r}: "
                "add a [[route]] to sayso.toml"
            )
            log_not_posted(request, "-", reason)
        else:
            self._notices.routed(request, route)
            is_alone = self._caution.suspects(request.question_id)
            reason = await self._broadcast.show(record, route, is_alone=is_alone)
            if not reason:
                await self._reminders.plan(request, route)
        if reason:
            await self._undeliverable(request, reason)

    async def _undeliverable(self, request: UserInputRequest, reason: str) -> None:
        ending = request.undeliverable(at=self._clock(), reason=reason)
        await self._backend.store.settle(request.question_id, ending)

    async def _end(self, record: Record) -> None:
        request, ending = record.request, record.ending
        if ending is None:
            return
        # Another desk may be slow with the request itself: it stands before its ending.
        await self._write(request, "request", request)
        await self._write_ending(request, record.overruled or ending, "ending", "outcome")
        if record.overruled is not None:
            await self._write_ending(request, ending, "overruling", "overruled")
        await self._bring_up_to_date(record, ending)

    async def _bring_up_to_date(self, record: Record, ending: Resolution) -> None:
        ended = [
            Found(copy, record.request, ending, record.use, record.revoked)
            for copy in record.copies
        ]
        await self._delivery.update_all(ended)

    async def _write_ending(
        self, request: UserInputRequest, ending: Resolution, kind: LogKind, seen: LogKind
    ) -> None:
        await self._write(request, kind, ending)
        if ending.observed is not ending:
            await self._write(request, seen, ending.observed)

    async def _write(self, request: UserInputRequest, kind: LogKind, event: Event) -> None:
        """Write to the branch's log; jobs come at least once, the log takes each event once."""
        if self._keeps_log:
            await self._backend.log.append(request.run, request.question_id, kind, event)
