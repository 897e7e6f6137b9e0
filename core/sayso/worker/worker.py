"""The worker: takes requests from the outbox and clicks from chats, and stops without loss."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from sayso.always.terms import GrantOptions
from sayso.calls import new_id
from sayso.chats.adapter import Adapter
from sayso.chats.caller import Caller
from sayso.chats.places import Place
from sayso.clock import Clock, utc_now
from sayso.errors import StoreUnreachableError
from sayso.questions.refusals import Refusals
from sayso.seldom import Seldom
from sayso.stores.audit import KEPT_DECISIONS
from sayso.stores.backend import Backend
from sayso.stores.chat_moves import note_chat_move
from sayso.stores.protocols import KEPT, Audit, Job, OpenLimits, Outbox, Record
from sayso.tasks import Background
from sayso.worker.activity_events import ActivityEvents, RejectedInteractions
from sayso.worker.app_home import Overviews
from sayso.worker.authorization import Approvers, GroupChanges
from sayso.worker.card_builder import CardBuilder, Localizer
from sayso.worker.context import InteractionPriority, WorkerContext
from sayso.worker.fan_out import FanOut
from sayso.worker.interactions import InteractionHandler
from sayso.worker.jobs import JobRunner
from sayso.worker.mentions import Mentions
from sayso.worker.poison_guard import PoisonGuard
from sayso.worker.post_cards import CardPoster
from sayso.worker.reminders import Reminders
from sayso.worker.revoke import RuleRevoker
from sayso.worker.routing import Deadlines, Routes
from sayso.worker.send_queue import LoopTimer, SendQueue, ShutdownError, Timer
from sayso.worker.update_cards import CardUpdater

_log = logging.getLogger(__name__)

# A desk that dies without a word is gone after so long; one that lives says so in time.
STAYS_SECONDS = 10.0
_AGAIN_SECONDS = 3.0
_LEAVE_SECONDS = 1.0


@asynccontextmanager
async def attending(
    roster: Outbox,
    desk: str,
    *,
    limits: OpenLimits | None = None,
    again_after: float = _AGAIN_SECONDS,
) -> AsyncIterator[None]:
    """Let the roster hold the desk and keep its limits while the block runs; best effort."""

    async def stay() -> None:
        while True:
            await asyncio.sleep(again_after)
            await _join(roster, desk, limits)

    await _join(roster, desk, limits)
    try:
        async with Background("staying on the roster").during(stay()):
            yield
    finally:
        with suppress(StoreUnreachableError, TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await roster.remove_worker(desk)


async def _join(roster: Outbox, desk: str, limits: OpenLimits | None) -> None:
    # Whoever waits for the store logs that it is away.
    with suppress(StoreUnreachableError):
        await roster.heartbeat(desk, seconds=STAYS_SECONDS, limits=limits)


_SECONDS = 3_600.0


async def trim_audit(audit: Audit, keep: timedelta, timer: Timer) -> None:
    """Drop what the audit has had for longer than this, every hour until cancelled."""
    waits = Seldom(_log)
    while True:
        try:
            await audit.trim(keep)
        except StoreUnreachableError as error:
            waits.say(f"the audit is not trimmed yet: {error}")
        await timer.sleep(_SECONDS)


_AT_ONCE = 10_000
_STOP_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a desk works.

    ``terms`` and ``refusals`` are what its cards offer. With ``keeps_log``
    requests and endings are written to their branch's log, too. Requests of
    one run that come within ``bundle_window`` of the first of them share a message;
    without it each has its own. Cards are known for ``keep`` after their deadline, so that a
    late press closes them. The store keeps the ``limits`` of open requests, by default those that
    another desk brought, and the audit's decisions for ``keep_audit``.
    """

    terms: GrantOptions = field(default_factory=GrantOptions)
    refusals: Refusals = field(default_factory=Refusals)
    keeps_log: bool = False
    bundle_window: timedelta = timedelta(0)
    keep: timedelta = KEPT
    keep_audit: timedelta = KEPT_DECISIONS
    limits: OpenLimits | None = None


class ApprovalWorker:
    """Takes requests from the outbox and presses from the adapters.

    ``press`` decides on a press and says what to tell the presser: see ``InteractionHandler.take``.
    ``revoking`` takes back what was stored: see ``RuleRevoker.by_id``.
    ``overview`` and ``revoke`` are for lists of what waits and is stored: see ``Overviews``.
    ``language`` is what is said in a place: see ``Routes.language_at``.
    ``members_changed`` is for platforms that tell of it: see ``GroupChanges.tell``.
    On platforms without one of the ``callers`` people find their cards by themselves.
    """

    # long: it puts the parts of the desk together, one after the other
    def __init__(
        self,
        backend: Backend,
        adapters: Iterable[Adapter],
        routes: Routes,
        options: WorkerOptions | None = None,
        *,
        callers: Iterable[Caller] = (),
        clock: Clock = utc_now,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        timer: Timer | None = None,
    ) -> None:
        options = options or WorkerOptions()
        by_platform = {adapter.platform: adapter for adapter in adapters}
        speech = Localizer(routes)
        maker = CardBuilder(
            by_platform,
            routes,
            terms=options.terms,
            refusals=options.refusals,
            speech=speech,
            clock=clock,
        )
        self.name, self._limits = new_id(), options.limits
        self._backend = backend
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._background = Background(
            "work of the desk", patience=_STOP_SECONDS, expected=(ShutdownError,)
        )
        notices = ActivityEvents(backend.bus, self._background)
        self._timer = timer = timer or LoopTimer()
        self._keep_audit = options.keep_audit
        self._approvers = Approvers(routes, by_platform, clock=timer.now)
        self._members = GroupChanges(self._approvers, backend.bus)
        self.members_changed = self._members.tell
        self._deadlines = Deadlines(backend.store)
        self._lanes = SendQueue(backend.key_value, timer)
        calling = {caller.platform: caller for caller in callers}
        callings = Mentions(routes, self._approvers, calling, clock=clock, speech=speech)
        self._reminders = Reminders(
            backend, routes, by_platform, calling, callings, self._lanes, maker, clock=clock
        )
        caution = PoisonGuard(backend.key_value, self.name)
        calm = InteractionPriority()
        self._delivery = CardUpdater(
            backend.copies,
            by_platform,
            maker,
            self._lanes,
            caution,
            background=self._background,
            timer=timer,
        )
        self._showing = CardPoster(
            backend.copies,
            backend.key_value,
            by_platform,
            maker,
            self._lanes,
            self._delivery,
            caution,
            callings,
            background=self._background,
            clock=clock,
            keep=options.keep,
            timer=timer,
        )
        self._broadcast = FanOut(
            backend.store,
            self._deadlines,
            self._showing,
            window=options.bundle_window,
            background=self._background,
            pause=pause,
        )
        self._jobs = JobRunner(
            backend,
            routes,
            self._broadcast,
            self._showing,
            self._delivery,
            calm,
            notices,
            caution,
            self._reminders,
            clock=clock,
            timer=timer,
            keeps_log=options.keeps_log,
        )
        parts = WorkerContext(
            backend=backend,
            adapters=by_platform,
            approvers=self._approvers,
            delivery=self._delivery,
            calm=calm,
            maker=maker,
            notices=notices,
            refused=RejectedInteractions(backend.audit, self._background, notices),
            refusals=options.refusals,
            clock=clock,
            background=self._background,
            speech=speech,
        )
        self.revoking = RuleRevoker(parts)
        self.press = InteractionHandler(parts, self.revoking).take
        overviews = Overviews(parts, routes, calling, self.revoking)
        self.overview, self.revoke = overviews.of, overviews.revoke
        self.language = routes.language_at

    async def run(self) -> None:
        """Work until cancelled; then finish what is under way, within seconds."""
        upkeep = Background("upkeep of the desk")
        async with (
            upkeep.during(self._deadlines.sweep()),
            upkeep.during(self._approvers.keep_read()),
            upkeep.during(self._members.hear()),
            upkeep.during(self._reminders.run()),
            upkeep.during(trim_audit(self._backend.audit, self._keep_audit, self._timer)),
            attending(self._backend.outbox, self.name, limits=self._limits),
            self._backend.outbox.jobs(self.name) as jobs,
        ):
            try:
                async for job in jobs:
                    await self._room.acquire()
                    self._background.start(self._do(job))
            finally:
                self._lanes.close()
                await self._background.finish()

    async def moved(self, old: Place, new: Place) -> None:
        """A chat has a new address: remember it and post its open cards there again.

        Raises:
            StoreUnreachableError: nothing was noted.
        """
        await note_chat_move(self._backend.key_value, old, new)
        self._showing.moved(old)
        messages: dict[tuple[str, ...], tuple[Place, list[Record]]] = {}
        for record in await self._backend.store.list_requests():
            there = [
                copy
                for copy in record.copies
                if (copy.place.platform, copy.place.address) == (old.platform, old.address)
            ]
            # One that does not stand yet may be noted in this moment; others were left behind.
            for copy in [one for one in there if one.stands] or there[-1:]:
                messages.setdefault(copy.handles, (copy.place, []))[1].append(record)
        for place, records in messages.values():
            self._background.start(self._show_again(records, place))

    async def _do(self, job: Job) -> None:
        try:
            await self._jobs.do(job)
        finally:
            self._room.release()

    async def _show_again(self, records: Sequence[Record], place: Place) -> None:
        now = asyncio.get_running_loop().time()
        untils = [now + record.seconds_left for record in records]
        for problem in await self._showing.show(records, place, untils):
            if problem:
                _log.warning("a card could not follow its chat: %s", problem)
