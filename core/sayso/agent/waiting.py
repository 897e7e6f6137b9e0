"""The open questions of a run: opening them with patience, waiting, withdrawing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from sayso.agent.options import GateOptions
from sayso.agent.patience import Patience, counting
from sayso.agent.timeouts import GRACE_SECONDS, CallTime, in_seconds
from sayso.agent.unseen import UnseenQuestions
from sayso.calls import RunRef
from sayso.errors import (
    RequestNotFoundError,
    RequestUnansweredError,
    SaysoError,
    StoreUnreachableError,
    WaitTimeoutError,
)
from sayso.events import Event, Resolution, UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.home import running_loop
from sayso.stores.inbox import Inbox
from sayso.stores.protocols import BookChanged, Joined, Opened, Record, Ring
from sayso.tasks import Background

_log = logging.getLogger(__name__)

# Whoever leaves is not held up for longer by a question that cannot be withdrawn.
_WITHDRAWING_SECONDS = 1.0
# So many questions at most are withdrawn at once.
_AT_ONCE = 100
# A question that the store lets live so much longer than its caller waits is shortened.
_LATE_SECONDS = 0.25
_NOBODY_ASKED = "nobody was asked"
_STOPPED = "the agent stopped waiting"


class Expected:
    """The future of a question's ending, as long as somebody waits: kept small, as many do."""

    __slots__ = ("_cancelled", "_inbox", "_question_id", "future")

    def __init__(
        self, inbox: Inbox, question_id: str, cancelled: Callable[[str], None] | None
    ) -> None:
        self._inbox = inbox
        self._question_id = question_id
        self._cancelled = cancelled
        self.future: asyncio.Future[Ring] = inbox.expect(question_id)

    def __enter__(self) -> asyncio.Future[Ring]:
        return self.future

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        self.leave(error)

    def leave(self, error: BaseException | None) -> None:
        """Nobody waits any more; who was cancelled withdraws the question.

        Also while asking: the store may have the question without having said so yet.
        """
        try:
            if isinstance(error, asyncio.CancelledError) and self._cancelled is not None:
                self._cancelled(self._question_id)
        finally:
            self._inbox.forget(self._question_id, self.future)


class Questions:
    """Puts a run's questions into the store and waits for their ends. Every wait has an end.

    The options' ``observe`` is told of each question that is opened and how it ended.
    """

    def __init__(self, backend: Backend, options: GateOptions) -> None:
        self._backend = backend
        self._store = backend.store
        self._watch = backend.store
        self.home = backend.inbox.home
        self._run = options.run
        self._options = options
        self._clock = options.clock
        self._observe = options.observe
        self._withdrawn_by = options.withdrawn_by
        self._unseen = UnseenQuestions(backend, in_seconds(options.patience), options.clock)
        self._cancelling = Background("cancelling a question", patience=_WITHDRAWING_SECONDS)
        troubles = backend.inbox.troubles
        self.patience = Patience(in_seconds(options.patience), troubles)
        # Kept, as many hold it: each time a method is looked up it is another object.
        self.withdraw = self._cancel_later

    async def answer(self, request: UserInputRequest) -> Resolution:
        """Open any question and wait for its ending."""
        request = self._options.completed(request)
        with self.expected(request.question_id) as future:
            try:
                await self.ask(request, heard=True)
            except RequestUnansweredError as error:
                return request.undeliverable(at=self._clock(), reason=error.reason)
            ending = (await future).ending
        self.tell(ending.observed)
        return ending

    async def ask(self, request: UserInputRequest, *, heard: bool = False) -> None:
        """Open any question, until its own expiry; where it is heard, as long as it may be seen."""
        seconds = in_seconds((request.expires_at - self._clock()).total_seconds())
        await self.open(request, seconds, heard=heard, book=None)
        if heard:
            self.end_if_unseen(request.question_id, request.run)

    async def open(
        self,
        request: UserInputRequest,
        seconds: float,
        *,
        heard: bool,
        book: str | None,
        ending: Resolution | None = None,
        key: str = "",
    ) -> Opened | BookChanged | Joined:
        """Open the question, trying again while the store is away; ``heard`` rings our inbox.

        What needs nobody is recorded with its ``ending``. Under a ``key`` it may be asked already.

        Raises:
            IdempotencyConflictError: another request has this id.
            RequestUnansweredError: the agent has as many open requests as the server allows.
            StoreUnreachableError: it could not be opened in its time, or as long as
                the gate is patient; the message says why.
        """
        loop = running_loop()
        deadline = loop.time() + seconds
        inbox = self._backend.inbox
        asked_at: float | None = None

        async def attempt() -> Opened | BookChanged | Joined:
            nonlocal asked_at
            if heard:
                await inbox.listening()
            asked_at = inbox.store_clock.now()
            return await self._store.open(
                request,
                seconds=deadline - loop.time(),
                inbox=inbox.name if heard else "",
                book=book,
                ending=ending,
                key=key,
            )

        try:
            opened = await self.patience(attempt, until=deadline, failed=_NOBODY_ASKED)
            if isinstance(opened, Opened) and ending is None:
                opened = await self._in_time(request.question_id, opened, deadline)
        except StoreUnreachableError:
            # The last attempt may have arrived without an answer to it.
            if asked_at is not None and not key:
                self._cancel_later(request.question_id)
            raise
        if isinstance(opened, Opened):
            inbox.asked()
            if heard and asked_at is not None:
                inbox.store_clock.seen(opened.at, asked_at=asked_at)
                inbox.due_in(request.question_id, opened.seconds, promised=deadline)
            self.tell(request)
        return opened

    def end_if_unseen(self, question_id: str, run: RunRef) -> None:
        """End the open question as undeliverable if nobody can see it once patience is over."""
        self._unseen.watch(question_id, run)

    async def _in_time(self, question_id: str, opened: Opened, deadline: float) -> Opened:
        """The open question, expiring when its caller was promised and not later.

        A store that hung carries out an attempt long after it was made.
        """
        left = deadline - asyncio.get_running_loop().time()
        if opened.seconds <= left + _LATE_SECONDS:
            return opened
        await self.patience(
            lambda: self._watch.shorten_deadline(question_id, max(left, 0.0)),
            until=deadline,
            failed=_NOBODY_ASKED,
        )
        return replace(opened, seconds=left)

    def expected(self, question_id: str, *, alone: bool = True) -> Expected:
        """A future of the question's ending; cancelled inside, the question is cancelled too.

        Not where others may wait for it as well: whoever is not ``alone``.
        """
        return Expected(self.inbox, question_id, self.withdraw if alone else None)

    @property
    def inbox(self) -> Inbox:
        """Where the endings of questions ring."""
        return self._backend.inbox

    async def record(self, question_id: str, time: CallTime | None) -> Record:
        """All that the store knows of a question of this session, asked here or elsewhere.

        The questions of another session or agent are held against rules that are not read here.

        Raises:
            RequestNotFoundError: the session has no such request, or its record
                has been removed.
        """
        with counting(time):
            record = await self.patience(lambda: self._store.get(question_id))
        if record is None or not record.request.run.is_in_session_of(self._run):
            raise RequestNotFoundError(question_id)
        return record

    async def ending(self, record: Record, time: CallTime | None) -> Resolution:
        """How the question of a record ends.

        Raises:
            WaitTimeoutError: ``time`` is over and the question is still open.
            StoreUnreachableError: the store does not answer, or has lost the request.
        """
        return record.ending or await self.wait(record, time)

    def tell(self, event: Event) -> None:
        """Tell whoever observes this run in this process."""
        if self._observe is not None:
            self._observe(event)

    async def wait(self, record: Record, time: CallTime | None) -> Resolution:
        """How an open question ends; raises as ``ending`` does."""
        question_id = record.request.question_id
        inbox = self._backend.inbox
        future = inbox.expect(question_id)
        # By the store's clock: ours need not be right.
        left = max(record.seconds_left, 0.0)
        expires_at = asyncio.get_running_loop().time() + left
        limit = asyncio.timeout_at(None if time is None else time.ends_at)
        try:
            async with limit:
                await _listening(inbox, left + GRACE_SECONDS)
                inbox.due_in(question_id, expires_at - asyncio.get_running_loop().time())
                await inbox.look([question_id])
                return (await future).ending
        except TimeoutError:
            if time is None or not limit.expired():
                raise
            raise WaitTimeoutError(
                f"request {question_id!r} is still open after {time.seconds:g} s; resume it later"
            ) from None
        finally:
            inbox.forget(question_id, future)

    async def cancel(self, question_id: str, *, reason: str) -> Resolution:
        """Withdraw a question of this session; the ending that counts, which may be an answer.

        Raises:
            RequestNotFoundError: the session has no such request.
            StoreUnreachableError: the store does not answer.
        """
        record = await self.record(question_id, None)
        return await self._end(record.request.cancelled(at=self._clock(), reason=reason))

    async def cancel_all(self, run: RunRef | None, *, reason: str) -> list[Resolution]:
        """Withdraw the open questions of a run of this session, or of all of them.

        The endings that count. A question that is opened meanwhile is withdrawn as well, or
        stays open for whoever waits for it.

        Raises:
            StoreUnreachableError: the store does not answer; some may be withdrawn.
        """
        with counting(None):
            records = await self.patience(lambda: self._watch.list_requests(self._run))
        mine = [one.request for one in records if run is None or one.request.run == run]
        ended: list[Resolution | None] = []
        for start in range(0, len(mine), _AT_ONCE):
            some = mine[start : start + _AT_ONCE]
            ended += await asyncio.gather(*(self._end_known(one, reason) for one in some))
        return [ending for ending in ended if ending is not None]

    async def _end_known(self, request: UserInputRequest, reason: str) -> Resolution | None:
        """The ending that counts; None where the record was removed in this moment."""
        try:
            return await self._end(request.cancelled(at=self._clock(), reason=reason))
        except RequestNotFoundError:
            return None

    async def _end(self, ending: Resolution) -> Resolution:
        question_id = ending.question_id
        with counting(None):
            settled = await self.patience(lambda: self._store.settle(question_id, ending))
        return settled.ending

    def withdrawal(self, record: Record) -> Resolution:
        """The ending of a question that is not waited for any more."""
        at, by = self._clock(), self._withdrawn_by
        return record.request.cancelled(at=at, reason=_STOPPED, by=by)

    def overrule(self, denial: Resolution) -> None:
        """Record that an approval was denied here, when its call was to run."""
        self.in_background(self._overrule_quietly(denial))

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what nobody waits for; ``finish`` does, for a moment."""
        self._cancelling.start(work)

    async def finish(self) -> None:
        """Return when nothing is being cancelled any more, within seconds."""
        await self._unseen.stop()
        await self._cancelling.finish()

    async def _overrule_quietly(self, denial: Resolution) -> None:
        try:
            await self._store.overrule(denial.question_id, denial)
        except SaysoError as error:
            _log.warning("a denial by the agent is not recorded: %s", error)

    def _cancel_later(self, question_id: str) -> None:
        self.in_background(self._cancel_quietly(question_id))

    async def _cancel_quietly(self, question_id: str) -> None:
        # Asked here, whatever its session: a policy's own question may be about another run.
        try:
            with counting(None):
                record = await self.patience(lambda: self._store.get(question_id))
            if record is not None:
                await self._end(self.withdrawal(record))
        except RequestNotFoundError:
            return  # its record was removed in this moment
        except SaysoError as error:
            _log.warning("a question stays open until it expires: %s", error)


async def _listening(inbox: Inbox, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await inbox.listening()
    except TimeoutError:
        why = inbox.troubles.latest or "it did not answer"
        raise StoreUnreachableError(
            f"the store could not be subscribed to before the question expired: {why}"
        ) from None
