"""The endings that one process waits for: one subscription, one timer, a future each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Self

from sayso.calls import new_id
from sayso.errors import SaysoError, StoreUnreachableError, WaitTimeoutError
from sayso.stores.clock import StoreClock
from sayso.stores.due import Due
from sayso.stores.home import Home
from sayso.stores.pauses import Pause
from sayso.stores.protocols import Bus, Outbox, RequestStore, Ring
from sayso.stores.troubles import Troubles
from sayso.stores.waiters import Rounds, Waiters
from sayso.tasks import Background

_log = logging.getLogger(__name__)

# The safety net under the bus: at most this long may a lost wake-up delay an answer.
LOOK_EVERY_SECONDS = 60.0
# After its expiry a wait goes on this long while the store cannot be reached, then it fails.
GRACE_SECONDS = 1.0
# So often at most is it looked at whether anybody serves the store.
_COUNT_EVERY_SECONDS = 60.0
CANNOT_ASK = "cannot ask yet, trying again"
_CANNOT_LOOK = "could not look for answers"
_LOST = "the inbox lost its subscription, trying again"
_BATCH = 1_000
_AGAIN_SECONDS = 0.05
# What an ordinary answer of the store takes: nothing is kept of a request because of it.
_MOMENT_SECONDS = 0.01


class Inbox:
    """Resolves a future for every request that ends: the inbox that ``RequestStore.open`` rings.

    Subscribe, look, wait: whoever waits is subscribed first, then looks in
    the store, and the store is looked at again after every lost subscription
    and once a minute, for one part of many requests after the other. It is one
    subscription, however many requests are waited for.

    With an ``outbox``, whoever asks is told in the log when nobody serves the store.
    """

    def __init__(
        self,
        bus: Bus,
        requests: RequestStore,
        outbox: Outbox | None = None,
        *,
        grace: float = GRACE_SECONDS,
        look_every: float = LOOK_EVERY_SECONDS,
    ) -> None:
        self.name = new_id()
        self.home = Home()
        self._bus = bus
        self._requests = requests
        self._outbox = outbox
        self.troubles = Troubles(_log)
        self._grace = grace
        self._look_every = look_every
        self.store_clock = StoreClock()
        self._waiting = Waiters()
        self._opening: set[str] = set()
        self._due = Due()
        self._late_since: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._subscribed = asyncio.Event()
        self._overdue = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._has_listened = False
        self._counting = Background("counting the desks", expected=(SaysoError,))
        self._counted_at: float | None = None
        self._nobody_serves = False

    async def __aenter__(self) -> Self:
        self.home.check()
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._counting.cancel()
        if self._timer is not None:
            self._timer.cancel()
        for question_id in list(self._waiting):
            self._fail(question_id, WaitTimeoutError("the gate was closed before the answer came"))

    @property
    def knows_workers(self) -> bool:
        """Return whether the store knows if workers run."""
        return self._outbox is not None

    async def listening(self) -> None:
        """Wait until the subscription stands; from then on no ending is missed."""
        self.home.check()
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._listen()),
                asyncio.create_task(self._look_now_and_then()),
                asyncio.create_task(self._end_overdue()),
            ]
        await self._subscribed.wait()

    def asked(self) -> None:
        """A question is in the store: look, beside it, whether anybody would show it."""
        now = asyncio.get_running_loop().time()
        is_due = self._counted_at is None or now - self._counted_at >= _COUNT_EVERY_SECONDS
        if self._outbox is None or not is_due:
            return
        self._counted_at = now
        self._counting.start(self._count(self._outbox))

    def expect(self, question_id: str) -> asyncio.Future[Ring]:
        """A future of the request's ending; give it back with ``forget``.

        The request may not be in the store yet: it is looked up only from
        ``due_in`` on. The ring gives a version of the rules only if the
        store read it a moment ago.
        """
        self.home.check()
        if question_id not in self._waiting:
            self._opening.add(question_id)
        future: asyncio.Future[Ring] = asyncio.get_running_loop().create_future()
        self._waiting.add(question_id, future)
        return future

    def forget(self, question_id: str, future: asyncio.Future[Ring]) -> None:
        """Nobody waits on this future any more."""
        if not self._waiting.discard(question_id, future):
            self._opening.discard(question_id)
            self._late_since.pop(question_id, None)
        if len(self._due) > _BATCH and len(self._due) > 2 * len(self._waiting) + _BATCH:
            self._due.keep(self._waiting)

    def due_in(self, question_id: str, seconds: float, *, promised: float | None = None) -> None:
        """The request is in the store and expires in so many seconds; its wait ends soon after.

        Where the store cannot be reached then, the grace counts from the moment of the event
        loop's clock that its caller was ``promised``: a store that was slow opened it later.
        """
        self._opening.discard(question_id)
        due = asyncio.get_running_loop().time() + seconds
        if promised is not None and promised < due - _MOMENT_SECONDS:
            self._late_since[question_id] = promised
        self._due.add(due, question_id)
        self._set_timer()

    async def look(self, question_ids: Sequence[str]) -> None:
        """Resolve those of the requests that have ended, fail those that the store has lost."""
        for start in range(0, len(question_ids), _BATCH):
            batch = question_ids[start : start + _BATCH]
            endings = await self._requests.poll(batch, inbox=self.name)
            for question_id in batch:
                if question_id not in endings:
                    self._fail(question_id, StoreUnreachableError.for_lost_request(question_id))
                    continue
                ending = endings[question_id]
                if isinstance(ending, SaysoError):
                    self._fail(question_id, ending)
                elif ending is not None:
                    self._resolve(Ring(ending))

    def _opened(self) -> list[str]:
        return [question_id for question_id in self._waiting if self._is_opened(question_id)]

    def _is_opened(self, question_id: str) -> bool:
        return question_id in self._waiting and question_id not in self._opening

    def _fresh(self, ring: Ring) -> Ring:
        """The ring; without the version of the rules when it may have been long under way."""
        return ring if self.store_clock.is_recent(ring.at) else Ring(ring.ending)

    def _resolve(self, ring: Ring) -> None:
        for future in self._waiting.take(ring.ending.question_id):
            if not future.done():
                future.set_result(ring)

    def _fail(self, question_id: str, error: SaysoError) -> None:
        for future in self._waiting.take(question_id):
            if not future.done():
                future.set_exception(error)

    async def _listen(self) -> None:
        pause = Pause()
        while True:
            try:
                async with self._bus.rings(self.name) as rings:
                    # Subscribed: from now on endings ring. Look for those from before. It may be
                    # another server by now, with a clock of its own.
                    self.store_clock.forget()
                    await self.look(self._opened())
                    self._subscribed.set()
                    self._has_listened = True
                    pause.reset()
                    self.troubles.over(CANNOT_ASK)
                    self.troubles.over(_LOST)
                    async for ring in rings:
                        self._resolve(self._fresh(ring))
            except Exception as error:
                # Whatever it is: nobody else listens for the runs of this process.
                self._subscribed.clear()
                self.troubles.tell(_LOST if self._has_listened else CANNOT_ASK, error)
                await pause.take()

    async def _look_now_and_then(self) -> None:
        now = asyncio.get_running_loop().time
        rounds = Rounds(self._waiting, self._look_every, most=_BATCH, now=now())
        while True:
            await asyncio.sleep(rounds.pause(now()))
            await self._look_after(rounds.turn(now()))

    async def _look_after(self, questions: Sequence[str]) -> None:
        """Look for the endings of these: again where that failed, for as long as a round takes."""
        now = asyncio.get_running_loop().time
        until, pause = now() + self._look_every, Pause()
        while True:
            try:
                await self.look([one for one in questions if self._is_opened(one)])
            except Exception as error:
                self.troubles.tell(_CANNOT_LOOK, error)
            else:
                self.troubles.over(_CANNOT_LOOK)
                return
            if now() >= until:
                return
            await pause.take()

    async def _count(self, outbox: Outbox) -> None:
        nobody = await outbox.count_workers() == 0
        if nobody and not self._nobody_serves:
            _log.warning(
                "no bots are running on this store: nobody sees the question until "
                "`sayso serve` runs"
            )
        self._nobody_serves = nobody

    def _set_timer(self) -> None:
        first = self._due.first
        if first is None:
            return
        if self._timer is not None:
            if not self._timer.cancelled() and self._timer.when() <= first:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(first, self._ring_overdue)

    def _ring_overdue(self) -> None:
        self._timer = None
        self._overdue.set()

    async def _end_overdue(self) -> None:
        while True:
            await self._overdue.wait()
            self._overdue.clear()
            overdue: dict[str, None] = {}
            for since, question_id in self._due.take(asyncio.get_running_loop().time()):
                if question_id in self._waiting:
                    overdue[question_id] = None
                    self._late_since.setdefault(question_id, since)
            if overdue:
                await self._end(list(overdue))
            self._set_timer()

    async def _end(self, overdue: list[str]) -> None:
        now = asyncio.get_running_loop().time()
        first = min(self._late_since.get(question_id, now) for question_id in overdue)
        try:
            # No longer than the grace of the first of them, however the store hangs: whoever
            # becomes overdue meanwhile has a turn after this one.
            async with asyncio.timeout_at(max(first + self._grace, now + _AGAIN_SECONDS)):
                await self._requests.expire_due()
                await self.look(overdue)
        except Exception as error:
            _tell("overdue requests are not ended yet", error)
            now = asyncio.get_running_loop().time()
            for question_id in overdue:
                if now - self._late_since.get(question_id, now) >= self._grace:
                    self._fail(question_id, _unreachable(error))
        now = asyncio.get_running_loop().time()
        for question_id in overdue:
            # The store's clock decides; by ours it may be too early, by a moment or by a lot.
            if question_id in self._waiting:
                late = now - self._late_since.get(question_id, now)
                pause = min(max(late, _AGAIN_SECONDS), self._grace / 2)
                self._due.add(now + pause, question_id)
            else:
                self._late_since.pop(question_id, None)


def _tell(what: str, error: Exception) -> None:
    """Log a failure, an unforeseen one with its trace."""
    foreseen = isinstance(error, SaysoError | TimeoutError)
    _log.warning("%s: %s", what, error or "no answer", exc_info=not foreseen)


def _unreachable(error: Exception) -> StoreUnreachableError:
    if isinstance(error, StoreUnreachableError):
        return error
    why = "it did not answer" if isinstance(error, TimeoutError) else type(error).__name__
    return StoreUnreachableError(
        f"the store could not be read ({why}); the answer may be there: resume it"
    )
