"""The gate: the agent's side of a question."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, overload

from pydantic import BaseModel

from sayso.agent import batch
from sayso.agent.asking import Asking, Options
from sayso.agent.guard import Guarded, guarded
from sayso.agent.inquiring import Inquiring, Inquiry, resume_inquiry, submit_inquiry
from sayso.agent.submitted import Submitted
from sayso.agent.verdict import Pending, Verdict
from sayso.agent.waiting import in_seconds
from sayso.calls import RunRef, ToolCall, arguments_digest
from sayso.clock import Clock, utc_now
from sayso.errors import RequestEndedError
from sayso.events import Event, RequestEnding, UserInputRequest
from sayso.policy.policy import Policy, RulePolicy
from sayso.rules.declarations import Declaration
from sayso.stores.backend import Backend
from sayso.stores.connect import open_backend
from sayso.stores.topics import branch_topic

if TYPE_CHECKING:
    from sayso.questions.structured_input import Collected

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)
_Answer = TypeVar("_Answer", bound=RequestEnding)
_Timeout = float | timedelta | None

DEFAULT_TIMEOUT_SECONDS = 600.0


class Gate(Inquiring):
    """Asks people, for one run. Every wait ends; every failure ends in a no or an error.

    Open one with ``Gate.open``. Timeouts are seconds or a timedelta, more
    than zero and at most 30 days; without one a question expires after ten
    minutes. ``observe`` is told at once what this gate asks and how it ended.
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
        observe: Callable[[Event], None] | None = None,
    ) -> None:
        self.backend = backend
        self.run = run
        self._asking = Asking(
            backend,
            run=run,
            policy=policy or RulePolicy(),
            seconds=in_seconds(timeout),
            requested_by=requested_by,
            clock=clock,
            observe=observe,
        )

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
        observe: Callable[[Event], None] | None = None,
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
                observe=observe,
            )
            stack.push_async_callback(gate.finish)
            yield gate

    async def finish(self) -> None:
        """Return when questions that nobody waits for any more are withdrawn."""
        await self._asking.questions.finish()

    def child(self, *path: str, source_name: str | None = None) -> Gate:
        """The gate of a sub-agent of the same run: same policy, and prompts that say who asks.

        ``path`` names what led to the sub-agent, outermost first: a parent
        call, then the sub-agent. A child of a child adds to it.
        """
        child = copy.copy(self)
        vars(child)["_asking"] = self._asking.child(path, source_name)
        return child

    async def check(
        self,
        call: ToolCall,
        *,
        source_name: str | None = None,
        description: str = "",
        timeout: _Timeout = None,
        path: Sequence[str] = (),
        declaration: Declaration | None = None,
    ) -> Verdict:
        """May this call run? Asks a person when the policy says so, and waits for the answer.

        ``declaration`` is what the tool says of itself, where the policy was not told.
        A call that this iteration's batch has an answer for is not asked about
        again. A check that is cancelled cancels its question and the cards of it.

        Raises:
            InvalidCallError: the arguments cannot be shown.
            StoreUnreachableError: nobody could be asked, or the answer cannot
                be read; nothing was approved.
            ArgumentsChangedError: the arguments changed while they were asked about.
        """
        return await self._asking.check(
            call, Options(source_name, description, timeout, path, declaration)
        )

    @overload
    async def submit(
        self,
        call: ToolCall,
        *,
        source_name: str | None = None,
        description: str = "",
        timeout: _Timeout = None,
        path: Sequence[str] = (),
        declaration: Declaration | None = None,
    ) -> str | Verdict: ...
    @overload
    async def submit(
        self,
        call: Inquiry[UserInputRequest],
        *,
        source_name: str | None = None,
        timeout: _Timeout = None,
        path: Sequence[str] = (),
    ) -> str: ...
    async def submit(
        self,
        call: ToolCall | Inquiry[UserInputRequest],
        *,
        source_name: str | None = None,
        description: str = "",
        timeout: _Timeout = None,
        path: Sequence[str] = (),
        declaration: Declaration | None = None,
    ) -> str | Verdict:
        """Ask and do not wait: the id of the question, for ``resume`` here or elsewhere.

        Where the policy decides on a call without a person, its verdict comes
        back at once. What is no call (Clarify, ApproveText, Collect, Continue)
        is always asked.

        Raises:
            InvalidCallError: the arguments cannot be shown.
            SchemaError: what is to be collected cannot be asked in chat.
            ValueError: the question makes no sense.
            StoreUnreachableError: nobody could be asked.
        """
        options = Options(source_name, description, timeout, path, declaration)
        if isinstance(call, ToolCall):
            return await self._asking.submit(call, options)
        return await submit_inquiry(self._asking, call, options)

    @overload
    async def resume(self, permission_id: str, *, timeout: _Timeout = None) -> Verdict: ...
    @overload
    async def resume(
        self, permission_id: str, *, timeout: _Timeout = None, expect: type[_Model]
    ) -> Collected[_Model]: ...
    @overload
    async def resume(
        self, permission_id: str, *, timeout: _Timeout = None, expect: type[_T]
    ) -> _T: ...
    async def resume(
        self, permission_id: str, *, timeout: _Timeout = None, expect: type[Any] = Verdict
    ) -> Any:
        """What came of a question asked earlier, in this process or another one.

        ``expect`` is the kind of result: a verdict unless told, Clarification,
        TextApproval, Continuation, Collected, or the pydantic model that was
        to be collected.

        Raises:
            UnknownRequestError: no such request, or its record has been removed.
            WrongQuestionError: the request is another kind of question.
            WaitTimeoutError: ``timeout`` is over and the question is still open.
            StoreUnreachableError: the store does not answer.
            InvalidInputError: what came back is not what the schema or the model allows.
        """
        if expect is Verdict:
            return await self._asking.resume(permission_id, timeout)
        return await resume_inquiry(self._asking, permission_id, timeout, expect)

    def before_iteration(self) -> None:
        """First phase: a new iteration of the agent begins, the last one's answers are gone.

        So are those that are still to come: who waits for them gets them, and nobody else.
        """
        self._asking.answers = batch.Answers()

    async def before_batch(
        self, calls: Sequence[ToolCall], *, together: bool = False, **how: Unpack[batch.How]
    ) -> list[Verdict]:
        """Second phase: parallel calls come up. The same as ``check_batch``."""
        return await self.check_batch(calls, together=together, **how)

    async def before_function(self, call: ToolCall, **how: Unpack[batch.How]) -> Verdict:
        """Third phase: one call is about to run. One call id is asked about once an iteration.

        Raises:
            InvalidCallError: the arguments cannot be shown.
            StoreUnreachableError: nobody could be asked.
            ArgumentsChangedError: the arguments changed since they were asked about.
        """
        digest = arguments_digest(call.arguments)
        answers = self._asking.answers
        async with answers.turn(call):
            verdict = await self.check(call, **how)
            answers.note(call.call_id, digest, verdict)
        return verdict

    async def check_batch(
        self, calls: Sequence[ToolCall], *, together: bool = False, **how: Unpack[batch.How]
    ) -> list[Verdict]:
        """Ask about the calls one after the other, in order, before any of them runs.

        With ``together`` all of them are asked about at once: the bots can
        show them on one card. Each is still answered on its own.

        Until ``before_iteration``, later checks of these call ids with the
        same arguments reuse the answers; only a denial can still replace them.

        Raises:
            InvalidCallError: some arguments cannot be shown; nobody was asked.
            StoreUnreachableError: nobody could be asked.
            ArgumentsChangedError: arguments changed while they were asked about.
        """
        for call in calls:
            arguments_digest(call.arguments)
        if together:
            return await batch.side_by_side(self.before_function(call, **how) for call in calls)
        return [await self.before_function(call, **how) for call in calls]

    async def run_batch(
        self,
        calls: Sequence[ToolCall],
        tools: batch.Tools,
        *,
        together: bool = False,
        **how: Unpack[batch.How],
    ) -> list[batch.CallResult]:
        """Ask in order, then run the approved calls side by side; one result a call, in order.

        With ``together`` all of them are asked about at once.

        A denied call, a tool that raises and a tool that does not exist each
        yield a result that says so, and the others go on. A tool that is not
        async runs as it is, and the others wait for it.

        Raises:
            StoreUnreachableError: nobody could be asked; nothing has run.
        """
        return await batch.run_batch(self.before_function, calls, tools, how, together=together)

    def deny_call(self, call_id: str) -> None:
        """Deny this call id from now on, also where it was or will be approved."""
        self._asking.denied.add(call_id)

    async def submit_batch(
        self, calls: Sequence[ToolCall], **how: Unpack[batch.How]
    ) -> list[Submitted]:
        """Ask about all of the calls, in order, without waiting: see ``resume_batch``.

        A call that stands twice is asked about once. What comes back can be stored.

        Raises:
            InvalidCallError: some arguments cannot be shown; nobody was asked.
            StoreUnreachableError: not all could be asked.
        """
        options = Options(**how)
        return await batch.submit_batch(partial(self._asking.hand_in, options=options), calls)

    async def resume_batch(
        self,
        submitted: Sequence[Submitted | str],
        *,
        timeout: _Timeout = None,
        wait: bool = True,
    ) -> list[Verdict | Pending]:
        """The verdicts on a submitted batch, in order, in this process or another one.

        Ids of questions will do too. What is still open when ``timeout`` is
        over, or at once without ``wait``, is reported as ``Pending``; the
        others can run. Later checks of the same calls reuse the verdicts.

        What was approved at once is looked at again: denied meanwhile, it is
        denied; by a remembered rule that is gone, it is denied too, and the
        next check of the call asks a person.

        Raises:
            TypeError: a bare verdict does not say which call it is on.
            UnknownRequestError: no such request, or its record has been removed.
            StoreUnreachableError: the store does not answer.
        """
        asking = self._asking
        return await batch.resume_batch(asking.look, submitted, asking.answers, timeout, wait=wait)

    async def cancel(self, question_id: str, *, reason: str = "") -> RequestEnding:
        """Withdraw a question and its cards; the ending that counts, which may be an answer.

        Raises:
            UnknownRequestError: no such request.
            StoreUnreachableError: the store does not answer.
        """
        return await self._asking.questions.cancel(question_id, reason=reason)

    @overload
    def guard(self, function: Callable[_P, Coroutine[Any, Any, _T]]) -> Guarded[_P, _T]: ...
    @overload
    def guard(self, function: Callable[_P, _T]) -> Guarded[_P, _T]: ...
    def guard(self, function: Callable[_P, Any]) -> Guarded[_P, Any]:
        """Make every call of a function pass this gate; what comes back is async.

        The function's name is the tool, its docstring's first line the
        description. A call that is not approved does not run: its result says
        what happened. A function that is not async runs as it is: the event
        loop stands still for as long as it takes.
        """
        return guarded(self.check, function)

    async def emit(self, event: Event) -> None:
        """Send any event: a request is opened and shown, others go to observers.

        Raises:
            DuplicateRequestError: another request has this id.
            StoreUnreachableError: the request could not be opened in its time.
            BusLostError: observers cannot be reached.
        """
        if isinstance(event, UserInputRequest):
            await self._asking.open(event)
        else:
            await self.backend.bus.publish(branch_topic(self.run), event)

    async def wait_for_response(
        self, kind: type[_Answer], question_id: str, timeout: _Timeout = None
    ) -> _Answer:
        """The response to a request that was emitted, here or elsewhere.

        Raises:
            RequestEndedError: it expired, was cancelled or could not be shown.
            UnknownRequestError: no such request.
            WaitTimeoutError: ``timeout`` is over and the question is still open.
            StoreUnreachableError: the store does not answer.
        """
        ending = await self._asking.ending(await self._asking.record(question_id), timeout)
        if not isinstance(ending, kind):
            raise RequestEndedError(question_id, ending.outcome.value, ending.reason)
        return ending

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """What is asked and decided on this run's branch while the block runs; for observers.

        Raises:
            BusLostError: events may have been missed.
        """
        return self.backend.bus.subscribe(branch_topic(self.run))
