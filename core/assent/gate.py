"""The gate: the agent's side of a question."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar

from assent.backend import Backend, branch_topic
from assent.calls import RunRef, ToolCall, new_id, shown_and_digest
from assent.connect import open_backend
from assent.errors import (
    AssentError,
    RequestEndedError,
    StoreUnreachableError,
    UnknownRequestError,
    WaitTimeoutError,
)
from assent.events import Event, RequestEnding, UserInputRequest
from assent.inbox import GRACE_SECONDS
from assent.memory import utc_now
from assent.permission import PermissionRequestEvent, call_of
from assent.policy import Context, Policy, RulePolicy, Ruling
from assent.ports import BookChanged, Clock, Opened
from assent.rules import RuleBook, literal_rule
from assent.verdict import Verdict, decided, verdict_on

_log = logging.getLogger(__name__)
_P = ParamSpec("_P")
_T = TypeVar("_T")
_Answer = TypeVar("_Answer", bound=RequestEnding)

DEFAULT_TIMEOUT_SECONDS = 600.0
MAX_TIMEOUT_SECONDS = 30 * 86_400.0
_RETRY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class _Question:
    """An open permission request, as little of it as a waiting run needs."""

    permission_id: str
    digest: str
    source_name: str


class Gate:
    """Asks people, for one run. Every wait ends; every failure ends in a no or an error.

    Open one with :meth:`Gate.open`. Timeouts are seconds or a timedelta, more
    than zero and at most 30 days; without one a question expires after ten
    minutes.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        run: RunRef,
        policy: Policy | None = None,
        timeout: float | timedelta = DEFAULT_TIMEOUT_SECONDS,
        requested_by: str | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self.backend = backend
        self.run = run
        self._inbox = backend.inbox
        self._policy = policy or RulePolicy()
        self._seconds = _seconds(timeout)
        self._requested_by = requested_by
        self._clock = clock
        self._book = RuleBook()
        self._cancelling: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        store: str | Backend,
        *,
        run: RunRef,
        policy: Policy | None = None,
        timeout: float | timedelta = DEFAULT_TIMEOUT_SECONDS,
        requested_by: str | None = None,
        clock: Clock = utc_now,
    ) -> AsyncIterator[Gate]:
        """A gate on the store at a URL, or on a backend that is open already.

        Raises:
            ConfigError: the URL is of no known kind.
        """
        async with AsyncExitStack() as stack:
            backend = store
            if isinstance(backend, str):
                backend = await stack.enter_async_context(open_backend(backend))
            gate = cls(
                backend,
                run=run,
                policy=policy,
                timeout=timeout,
                requested_by=requested_by,
                clock=clock,
            )
            stack.push_async_callback(gate._finish)
            yield gate

    async def check(
        self,
        call: ToolCall,
        *,
        source_name: str | None = None,
        description: str = "",
        timeout: float | timedelta | None = None,
        path: Sequence[str] = (),
    ) -> Verdict:
        """May this call run? Asks a person when the policy says so, and waits for the answer.

        A check that is cancelled cancels its question and the cards of it.

        Raises:
            InvalidCallError: the arguments cannot be shown.
            StoreUnreachableError: nobody could be asked, or the answer cannot
                be read; nothing was approved.
            ArgumentsChangedError: the arguments changed while they were asked about.
        """
        question_id = new_id()
        future = self._inbox.expect(question_id)
        try:
            asked = await self._ask(
                call,
                question_id,
                source_name=source_name,
                description=description,
                timeout=timeout,
                path=path,
                inbox=self._inbox.name,
            )
            if isinstance(asked, Verdict):
                return asked
            ending = await future
        except asyncio.CancelledError:
            # Also while asking: the store may have the question without having said so yet.
            self._cancel_later(question_id)
            raise
        finally:
            self._inbox.forget(question_id, future)
        return verdict_on(call, asked.digest, ending)

    async def submit(
        self,
        call: ToolCall,
        *,
        source_name: str | None = None,
        description: str = "",
        timeout: float | timedelta | None = None,
        path: Sequence[str] = (),
    ) -> str | Verdict:
        """Ask and do not wait: the permission id, for :meth:`resume` here or elsewhere.

        Where the policy decides without a person, its verdict comes back at once.

        Raises:
            InvalidCallError: the arguments cannot be shown.
            StoreUnreachableError: nobody could be asked.
        """
        asked = await self._ask(
            call,
            new_id(),
            source_name=source_name,
            description=description,
            timeout=timeout,
            path=path,
            inbox="",
        )
        return asked if isinstance(asked, Verdict) else asked.permission_id

    async def resume(
        self, permission_id: str, *, timeout: float | timedelta | None = None
    ) -> Verdict:
        """The verdict on a question asked earlier, in this process or another one.

        Raises:
            UnknownRequestError: no such request, or its record has been removed.
            WaitTimeoutError: ``timeout`` is over and the question is still open.
            StoreUnreachableError: the store does not answer.
        """
        record = await self.backend.store.get(permission_id)
        if record is None or not isinstance(record.request, PermissionRequestEvent):
            raise UnknownRequestError(permission_id)
        ending = record.ending or await self._wait(record.request, timeout)
        return verdict_on(call_of(record.request), record.request.arguments_digest, ending)

    async def cancel(self, question_id: str, *, reason: str = "") -> RequestEnding:
        """Withdraw a question and its cards; the ending that counts, which may be an answer.

        Raises:
            UnknownRequestError: no such request.
            StoreUnreachableError: the store does not answer.
        """
        record = await self.backend.store.get(question_id)
        if record is None:
            raise UnknownRequestError(question_id)
        ending = record.request.cancelled(at=self._clock(), reason=reason)
        return (await self.backend.store.settle(question_id, ending)).ending

    def guard(
        self, function: Callable[_P, Awaitable[_T]]
    ) -> Callable[_P, Coroutine[Any, Any, _T | str]]:
        """Make every call of an async function pass this gate.

        The function's name is the tool, its docstring's first line the
        description. A call that is not approved does not run: its result says
        what happened.
        """
        signature = inspect.signature(function)
        name = getattr(function, "__name__", type(function).__name__)
        description = (inspect.getdoc(function) or "").partition("\n")[0]

        @functools.wraps(function)
        async def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T | str:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            call = ToolCall(name, dict(bound.arguments))
            verdict = await self.check(call, description=description)
            if not verdict.approved:
                return verdict.as_tool_result()
            bound.arguments.update(verdict.arguments)
            return await function(*bound.args, **bound.kwargs)

        return guarded

    async def emit(self, event: Event) -> None:
        """Send any event: a request is opened and shown, others go to observers.

        Raises:
            DuplicateRequestError: another request has this id.
            StoreUnreachableError: the request could not be opened in its time.
            BusLostError: observers cannot be reached.
        """
        if isinstance(event, UserInputRequest):
            seconds = _seconds((event.expires_at - self._clock()).total_seconds())
            await self._open(event, seconds, inbox="", book=None)
        else:
            await self.backend.bus.publish(branch_topic(self.run), event)

    async def wait_for_response(
        self,
        kind: type[_Answer],
        question_id: str,
        timeout: float | timedelta | None = None,
    ) -> _Answer:
        """The response to a request that was emitted, here or elsewhere.

        Raises:
            RequestEndedError: it expired, was cancelled or could not be shown.
            UnknownRequestError: no such request.
            WaitTimeoutError: ``timeout`` is over and the question is still open.
            StoreUnreachableError: the store does not answer.
        """
        record = await self.backend.store.get(question_id)
        if record is None:
            raise UnknownRequestError(question_id)
        ending = record.ending or await self._wait(record.request, timeout)
        if not isinstance(ending, kind):
            raise RequestEndedError(question_id, ending.outcome.value, ending.reason)
        return ending

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """What is asked and decided on this run's branch while the block runs; for observers.

        Raises:
            BusLostError: events may have been missed.
        """
        return self.backend.bus.subscribe(branch_topic(self.run))

    async def _ask(
        self,
        call: ToolCall,
        question_id: str,
        *,
        source_name: str | None,
        description: str,
        timeout: float | timedelta | None,
        path: Sequence[str],
        inbox: str,
    ) -> Verdict | _Question:
        seconds = self._seconds if timeout is None else _seconds(timeout)
        while True:
            book = self._book
            decision = self._policy.decide(call, Context(self.run, book.remembered))
            if decision.ruling is not Ruling.ASK:
                # What a session remembers can be revoked anywhere: trust only a fresh look.
                if book.remembered and await self._refresh_book() != book:
                    continue
                return decided(call, decision)
            request = self._request(call, question_id, source_name, description, seconds, path)
            opened = await self._open(request, seconds, inbox=inbox, book=book.version)
            if isinstance(opened, Opened):
                if inbox:
                    self._inbox.due_in(question_id, opened.seconds)
                return _Question(question_id, request.arguments_digest, request.source_name)
            await self._refresh_book()

    def _request(
        self,
        call: ToolCall,
        question_id: str,
        source_name: str | None,
        description: str,
        seconds: float,
        path: Sequence[str],
    ) -> PermissionRequestEvent:
        arguments, digest = shown_and_digest(call.arguments)
        return PermissionRequestEvent(
            permission_id=question_id,
            source_name=self.run.agent_id if source_name is None else source_name,
            function_name=call.name,
            description=description,
            call_id=call.call_id,
            arguments=arguments,
            arguments_digest=digest,
            suggested_rules=(literal_rule(call, digest),),
            run=self.run,
            path=tuple(path),
            requested_by=self._requested_by,
            expires_at=self._clock() + timedelta(seconds=seconds),
        )

    async def _open(
        self, request: UserInputRequest, seconds: float, *, inbox: str, book: str | None
    ) -> Opened | BookChanged:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                if inbox:
                    await self._inbox.listening()
                while True:
                    try:
                        return await self.backend.store.open(
                            request, seconds=deadline - loop.time(), inbox=inbox, book=book
                        )
                    except StoreUnreachableError as error:
                        _log.warning("cannot ask yet, trying again: %s", error)
                        await asyncio.sleep(_RETRY_SECONDS)
        except TimeoutError:
            # The last attempt may have arrived without an answer to it.
            self._cancel_later(request.question_id)
            raise StoreUnreachableError(
                f"the store could not be reached within {seconds:g} s: nobody was asked"
            ) from None

    async def _refresh_book(self) -> RuleBook:
        self._book = await self.backend.rules.book(self.run)
        return self._book

    async def _wait(
        self, request: UserInputRequest, timeout: float | timedelta | None
    ) -> RequestEnding:
        question_id = request.question_id
        future = self._inbox.expect(question_id)
        limit = None if timeout is None else _seconds(timeout)
        left = max((request.expires_at - self._clock()).total_seconds(), 0.0)
        try:
            async with asyncio.timeout(limit):
                await self._listening(left + GRACE_SECONDS)
                self._inbox.due_in(question_id, left)
                await self._inbox.look([question_id])
                return await future
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

    def _cancel_later(self, question_id: str) -> None:
        task = asyncio.create_task(self._cancel_quietly(question_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel_quietly(self, question_id: str) -> None:
        try:
            await self.cancel(question_id, reason="the agent stopped waiting")
        except UnknownRequestError:
            return  # it was never asked
        except AssentError as error:
            _log.warning("a question stays open until it expires: %s", error)

    async def _finish(self) -> None:
        await asyncio.gather(*self._cancelling)


def _seconds(timeout: float | timedelta) -> float:
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not 0 < seconds <= MAX_TIMEOUT_SECONDS:
        raise ValueError(f"a timeout is more than 0 s and at most 30 days, not {seconds:g} s")
    return seconds
