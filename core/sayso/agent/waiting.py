"""The open questions of a run: opening them with patience, waiting, withdrawing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sayso.agent.options import GateOptions
from sayso.agent.timeouts import Timeout, in_seconds
from sayso.calls import RunRef
from sayso.errors import (
    SaysoError,
    StoreUnreachableError,
    UnknownRequestError,
    WaitTimeoutError,
)
from sayso.events import Event, RequestEnding, UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.inbox import CANNOT_ASK, GRACE_SECONDS
from sayso.stores.ports import BookChanged, Opened, Record, Ring
from sayso.tasks import Background

_log = logging.getLogger(__name__)

_RETRY_SECONDS = 0.2


class Questions:
    """Puts a run's questions into the store and waits for their ends. Every wait has an end.

    The options' ``observe`` is told of each question that is opened and how it ended.
    """

    def __init__(self, backend: Backend, options: GateOptions) -> None:
        self._store = backend.store
        self._inbox = backend.inbox
        self._run = options.run
        self._clock = options.clock
        self._observe = options.observe
        self._withdrawn_by = options.withdrawn_by
        self._cancelling = Background("cancelling a question")

    async def answer(self, request: UserInputRequest) -> RequestEnding:
        """Open any question and wait for its ending."""
        with self.expected(request.question_id) as future:
            await self.ask(request, heard=True)
            ending = (await future).ending
        self.tell(ending.observed)
        return ending

    async def ask(self, request: UserInputRequest, *, heard: bool = False) -> None:
        """Open any question, until its own expiry."""
        seconds = in_seconds((request.expires_at - self._clock()).total_seconds())
        await self.open(request, seconds, heard=heard, book=None)

    async def open(
        self,
        request: UserInputRequest,
        seconds: float,
        *,
        heard: bool,
        book: str | None,
        ending: RequestEnding | None = None,
    ) -> Opened | BookChanged:
        """Open the question, trying again while the store is away; ``heard`` rings our inbox.

        What needs nobody is recorded with its ``ending``.

        Raises:
            DuplicateRequestError: another request has this id.
            StoreUnreachableError: it could not be opened in its time.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        tried = False
        try:
            async with asyncio.timeout_at(deadline):
                if heard:
                    await self._inbox.listening()
                while True:
                    asked_at = self._inbox.store_clock.now()
                    tried = True
                    try:
                        opened = await self._store.open(
                            request,
                            seconds=deadline - loop.time(),
                            inbox=self._inbox.name if heard else "",
                            book=book,
                            ending=ending,
                        )
                        break
                    except StoreUnreachableError as error:
                        self._inbox.troubles.tell(CANNOT_ASK, error)
                        await asyncio.sleep(_RETRY_SECONDS)
        except TimeoutError:
            # The last attempt may have arrived without an answer to it.
            if tried:
                self._cancel_later(request.question_id)
            raise StoreUnreachableError(
                f"the store could not be reached within {seconds:g} s: nobody was asked"
            ) from None
        self._inbox.troubles.over(CANNOT_ASK)
        if isinstance(opened, Opened):
            self._inbox.asked()
            if heard:
                self._inbox.store_clock.seen(opened.at, asked_at=asked_at)
                self._inbox.due_in(request.question_id, opened.seconds)
            self.tell(request)
        return opened

    @contextmanager
    def expected(self, question_id: str) -> Iterator[asyncio.Future[Ring]]:
        """A future of the question's ending; cancelled inside, the question is cancelled too."""
        future = self._inbox.expect(question_id)
        try:
            yield future
        except asyncio.CancelledError:
            # Also while asking: the store may have the question without having said so yet.
            self._cancel_later(question_id)
            raise
        finally:
            self._inbox.forget(question_id, future)

    async def record(self, question_id: str) -> Record:
        """All that the store knows of a question of this session, asked here or elsewhere.

        The questions of another session or agent are held against rules that are not read here.

        Raises:
            UnknownRequestError: the session has no such request, or its record
                has been removed.
        """
        record = await self._store.get(question_id)
        if record is None or _session(record.request.run) != _session(self._run):
            raise UnknownRequestError(question_id)
        return record

    async def ending(self, record: Record, timeout: Timeout) -> RequestEnding:
        """How the question of a record ends.

        Raises:
            WaitTimeoutError: ``timeout`` is over and the question is still open.
            StoreUnreachableError: the store does not answer.
        """
        return record.ending or await self._wait(record.request, timeout)

    def tell(self, event: Event) -> None:
        """Tell whoever observes this run in this process."""
        if self._observe is not None:
            self._observe(event)

    async def _wait(self, request: UserInputRequest, timeout: Timeout) -> RequestEnding:
        question_id = request.question_id
        future = self._inbox.expect(question_id)
        limit = None if timeout is None else in_seconds(timeout)
        left = max((request.expires_at - self._clock()).total_seconds(), 0.0)
        try:
            async with asyncio.timeout(limit):
                await self._listening(left + GRACE_SECONDS)
                self._inbox.due_in(question_id, left)
                await self._inbox.look([question_id])
                return (await future).ending
        except TimeoutError:
            raise WaitTimeoutError(
                f"request {question_id!r} is still open after {limit:g} s; resume it later"
            ) from None
        finally:
            self._inbox.forget(question_id, future)

    async def _listening(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._inbox.listening()
        except TimeoutError:
            raise StoreUnreachableError(
                "the store could not be subscribed to before the question expired"
            ) from None

    async def cancel(self, question_id: str, *, reason: str) -> RequestEnding:
        """Withdraw a question of this session; the ending that counts, which may be an answer.

        Raises:
            UnknownRequestError: the session has no such request.
            StoreUnreachableError: the store does not answer.
        """
        return await self._withdraw(await self.record(question_id), reason, None)

    async def _withdraw(self, record: Record, reason: str, by: str | None) -> RequestEnding:
        ending = record.request.cancelled(at=self._clock(), reason=reason, by=by)
        return (await self._store.settle(record.request.question_id, ending)).ending

    def overrule(self, denial: RequestEnding) -> None:
        """Record that an approval was denied here, when its call was to run."""
        self._cancelling.start(self._overrule_quietly(denial))

    async def finish(self) -> None:
        """Return when nothing is being cancelled any more, within seconds."""
        await self._cancelling.finish()

    async def _overrule_quietly(self, denial: RequestEnding) -> None:
        try:
            await self._store.overrule(denial.question_id, denial)
        except SaysoError as error:
            _log.warning("a denial by the agent is not recorded: %s", error)

    def _cancel_later(self, question_id: str) -> None:
        self._cancelling.start(self._cancel_quietly(question_id))

    async def _cancel_quietly(self, question_id: str) -> None:
        # Asked here, whatever its session: a policy's own question may be about another run.
        try:
            if (record := await self._store.get(question_id)) is not None:
                await self._withdraw(record, "the agent stopped waiting", self._withdrawn_by)
        except UnknownRequestError:
            return  # its record was removed in this moment
        except SaysoError as error:
            _log.warning("a question stays open until it expires: %s", error)


def _session(run: RunRef) -> tuple[str, str]:
    return run.agent_id, run.session_id
