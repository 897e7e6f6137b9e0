"""The gate: the agent's side of a question."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, TypeVar, Unpack, overload
from weakref import WeakValueDictionary

from pydantic import BaseModel

from sayso.agent import batch
from sayso.agent.checks import Checks
from sayso.agent.copies import taken
from sayso.agent.listener import observed
from sayso.agent.options import CallOptions, GateOptions
from sayso.agent.resuming import Resuming
from sayso.agent.sync_gate import Block, BlockOnLoop
from sayso.agent.timeouts import (
    DEFAULT_PATIENCE_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    CallTime,
    Time,
    Timeout,
)
from sayso.agent.tools.guard import Guarded, guarded
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import CheckResult
from sayso.agent.waiting import Questions
from sayso.calls import Folder, RunRef, ToolCall
from sayso.clock import Clock, utc_now
from sayso.errors import RequestUnansweredError
from sayso.events import Event, Resolution, UserInputRequest
from sayso.policy.decision import Policy
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.backend import Backend
from sayso.stores.connect import check_url, open_store
from sayso.stores.topics import branch_topic
from sayso.where import Where

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)
_Answer = TypeVar("_Answer", bound=Resolution)


class Gate(Resuming):
    """Asks people, for one run. Every wait ends; every failure ends in a no or an error.

    Open one with ``Gate.open``. Timeouts are seconds, a timedelta or a text such
    as ``10m``, more than zero and at most 30 days; without one a question expires after ten
    minutes. ``observe`` is told at once what this gate asks and how it ended.

    Every question takes ``timeout``, ``source_name`` (who asks, instead of the
    agent's id), ``path`` (the calls that led to it, outermost first) and
    ``requested_by`` (the actor who wants it, and may not approve it); a
    call also takes a ``description`` and a ``declaration``. A timeout counts from
    the moment of the call, and at its end a call takes a second more at most.
    Whatever asks or waits raises StoreUnreachableError when the store cannot be
    used for ``patience`` seconds, or in time: nobody was asked, or the answer
    cannot be read, and nothing was approved. The message says why. Where no workers run
    by then, the question ends undeliverable.
    """

    def __init__(self, backend: Backend, options: GateOptions) -> None:
        questions = Questions(backend, options)
        unasked = Unasked(options.run, backend.audit if options.audit_rules else None)
        self._checks = Checks(backend, questions, options, unasked)
        super().__init__(questions, options, self._checks)
        self.backend = backend
        self.run = options.run
        self._others: WeakValueDictionary[RunRef, Gate] = WeakValueDictionary()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        store: str | Backend,
        *,
        run: RunRef,
        policy: Policy | None = None,
        timeout: Time = DEFAULT_TIMEOUT_SECONDS,
        requested_by: str | None = None,
        clock: Clock = utc_now,
        observe: Callable[[Event], None] | None = None,
        withdrawn_by: str | None = None,
        audit_rules: bool = False,
        patience: Time = DEFAULT_PATIENCE_SECONDS,
        folder: str | Folder | None = None,
        where: Where | Callable[[], Where | None] | None = None,
    ) -> AsyncIterator[Gate]:
        """A gate on the store at a URL, or on a backend that is open already.

        What rules decide without a person is logged, a line each; with ``audit_rules``
        it is in the audit, too, at the price of a round trip to the store.

        Raises:
            ConfigError: there is no store of that kind, or an option makes no sense.
        """
        options = GateOptions(
            run,
            policy,
            timeout,
            requested_by,
            clock,
            observe,
            withdrawn_by,
            audit_rules,
            patience=patience,
            folder=folder,
            where=where,
        )
        async with AsyncExitStack() as stack:
            backend = store
            if isinstance(backend, str):
                backend = await stack.enter_async_context(open_store(backend))
            elif not isinstance(backend, Backend):
                check_url(backend)
            backend.inbox.home.check()
            gate = cls(backend, options)
            stack.push_async_callback(gate.finish)
            yield gate

    async def finish(self) -> None:
        """Withdraw the questions that nobody waits for any more, within seconds."""
        await self._questions.finish()
        for gate in list(self._others.values()):
            await gate.finish()

    @property
    def session(self) -> str | None:
        """The id of the session, None where nobody named one."""
        return self.run.session_id if self.run.is_named else None

    @property
    def sync(self) -> SyncGate:
        """The methods for code of other threads that is not async."""
        return SyncGate(self, BlockOnLoop(self._questions.home.loop))

    def for_session(
        self, session: RunRef | str | int | None = None, *, run_id: str | None = None
    ) -> Gate:
        """Return the gate of the same agent in another session or run, or of the run that is given.

        Without a ``session`` it is this one; where none was named, ``run_id`` names it, too, and
        what people store for it ends with it. A run has one gate for as long as somebody holds it.

        Raises:
            InvalidCallError: the session is no string or int, is empty, or too long.
        """
        run = self._options.choose_run(session, run_id)
        gate = self if run == self.run else self._others.get(run)
        if gate is None:
            gate = self._others[run] = Gate(self.backend, replace(self._options, run=run))
        return gate

    def child(self, *path: str, source_name: str | None = None) -> Gate:
        """The gate of a sub-agent of the same run: same policy, and prompts that say who asks.

        ``path`` names what led to the sub-agent, outermost first: a parent
        call, then the sub-agent. A child of a child adds to it.
        """
        child = copy.copy(self)
        options = self._options.child(path, source_name)
        checks = self._checks.child(options)
        vars(child).update(_options=options, _checks=checks, _calls=checks)
        return child

    async def check(self, call: ToolCall, **how: Unpack[CallOptions]) -> CheckResult:
        """May this call run? Asks a person when the policy says so, and waits for the answer.

        ``declaration`` is what the tool says of itself, where the policy was not told.
        A call that this iteration's batch has an answer for is not asked about
        again. A check that is cancelled cancels its question and its cards.

        Under a ``key`` the session asks once, in whichever process and however often:
        the same call waits for the question that is open, or has the verdict that is
        recorded, see ``docs/policies/asked-once.md``. Two rules at most can be
        ``suggest``ed to be offered with *Always*.

        Raises:
            InvalidCallError: the arguments cannot be shown, or a rule that is suggested
                is not about this call.
            ArgumentsChangedError: the arguments changed while they were asked about.
            IdempotencyConflictError: the session asked about another call under the key.
        """
        asked = self._options.asked(**how)
        del how  # many wait here: what was read of it is not kept
        said = await self._checks.begin(call, asked)
        if isinstance(said, CheckResult):
            return said
        del call, asked
        try:
            ring = await said.future
        except BaseException as error:
            said.leave(error)
            raise
        said.leave(None)
        return await said.verdict(ring)

    def before_iteration(self) -> None:
        """First phase: a new iteration begins, and no answer of the last one counts for it."""
        self._checks.answers = batch.Answers()

    async def before_function(self, call: ToolCall, **how: Unpack[CallOptions]) -> CheckResult:
        """Third phase: ``check`` a call that is about to run, once an iteration for its id."""
        call = taken(call)
        if not self.run.can_remember:  # nor does the call of one customer wait for another's
            return await self.check(call, **how)
        return await self._checks.answers.once(call, lambda: self.check(call, **how))

    async def check_batch(
        self,
        calls: Sequence[ToolCall],
        *,
        keys: Sequence[str | None] | None = None,
        together: bool = False,
        **how: Unpack[CallOptions],
    ) -> list[CheckResult]:
        """Second phase: ask about the calls in order, one by one, before any of them runs.

        With ``together`` all of them are asked about at once: the bots can
        show them on one card. Each is still answered on its own. The timeout
        is for all of them; what nobody could be asked in time has expired.
        ``keys`` has one for each call, or None, such as their own ids. What is to be
        suggested is offered for each of the calls that it is about.

        Until ``before_iteration``, later checks of these call ids with the
        same arguments reuse the answers; only a denial can still replace them.

        Raises:
            InvalidCallError: some arguments cannot be shown, or what is suggested is
                about none of the calls; nobody was asked.
        """
        hows = batch.hows(calls, keys, self._options.shared(how))
        return await batch.check_batch(self.before_function, calls, hows, together=together)

    before_batch = check_batch

    async def run_batch(
        self,
        calls: Sequence[ToolCall],
        tools: batch.Tools,
        *,
        keys: Sequence[str | None] | None = None,
        together: bool = False,
        **how: Unpack[CallOptions],
    ) -> list[batch.CallResult]:
        """Ask as ``check_batch`` does, then run the approved calls side by side.

        There is one result for each call, in order.
        A denied call, a tool that raises and a tool that does not exist each
        yield a result that says so, and the others go on. A tool that is not
        async runs as it is, and the others wait for it.
        """
        hows = batch.hows(calls, keys, self._options.shared(how))
        return await batch.run_batch(self.before_function, calls, tools, hows, together=together)

    def deny_call(self, call_id: str, *, reason: str = "") -> None:
        """Deny this call id in the run from now on, even where it was or will be approved.

        It counts when this returns, from whichever thread it is called, for every gate of the
        run that came from the same opening.

        Raises:
            ConfigError: the run has no name, so the calls of others may have this id; or the id
                or the reason is no text.
        """
        self._options.denied.deny(call_id, reason)

    @overload
    def guard(  # type: ignore[overload-overlap]  # the more special comes first
        self, function: Callable[_P, AsyncIterator[_T]]
    ) -> Callable[_P, AsyncIterator[_T | str]]: ...
    @overload
    def guard(self, function: Callable[_P, Coroutine[Any, Any, _T]]) -> Guarded[_P, _T]: ...
    @overload
    def guard(self, function: Callable[_P, _T]) -> Guarded[_P, _T]: ...
    @overload
    def guard(self, *, raises: bool) -> Callable[[Callable[_P, Any]], Guarded[_P, Any]]: ...
    def guard(self, function: Callable[_P, Any] | None = None, *, raises: bool = False) -> Any:
        """Make every call of a function pass this gate; what comes back is async.

        An async generator stays one. The function's name is the tool, its docstring's first line
        the description, and the object of a method no argument.
        A call that is not approved does not run: its result says
        what happened, or with ``@gate.guard(raises=True)`` ToolBlocked does. A
        function that is not async runs as it is: the event loop stands still
        for as long as it takes.
        """
        if function is None:
            return partial(guarded, self.check, raises=raises)
        return guarded(self.check, function, raises=raises)

    async def overruled(
        self, request: PermissionRequestEvent, response: PermissionResponseEvent
    ) -> PermissionResponseEvent | None:
        """The denial in place of a response that approves what this gate denies by now.

        None where it denies nothing of it. Whoever answers in the agent's own
        process can ask before, as ``Orchestrator`` does.
        """
        return await self._checks.emitted.overruled(request, response)

    async def emit(self, event: Event) -> None:
        """Send an event: a request is opened and shown, one of your own goes to observers.

        Deny rules, denied call ids and *always deny* count as for ``check``: a call that
        they deny is recorded as denied, and nobody is asked. What has ended, and how, only
        the store tells: to answer a request, use ``Responder.respond``.

        What is left out of a request is filled in: its run, its expiry, who wants it, and
        for a call the digest and the rules to offer with *Always*.

        Raises:
            IdempotencyConflictError: another request has this id.
            RequestUnansweredError: the agent has as many open requests as the server allows.
            SubscriptionLostError: observers cannot be reached.
            ValueError: the event ends a request or says how one ended, or its
                ``requested_by`` is no account.
        """
        if isinstance(event, PermissionRequestEvent):
            await self._checks.emitted.ask(self._options.completed(event))
        elif isinstance(event, UserInputRequest):
            await self._questions.ask(self._options.completed(event))
        else:
            await self.backend.bus.publish(branch_topic(self.run), event)

    async def wait_for_response(
        self, kind: type[_Answer], question_id: str, timeout: Timeout = None
    ) -> _Answer:
        """The response to a request that was emitted, here or elsewhere.

        An approval of a call that is denied by now is a denial, as for ``resume``.

        Raises:
            RequestUnansweredError: it expired, was cancelled or could not be shown.
            RequestNotFoundError, WaitTimeoutError: as for ``resume``.
        """
        time = CallTime.limited(timeout)
        record = await self._questions.record(question_id, time)
        ending = await self._checks.ending(record, time)
        if not isinstance(ending, kind):
            raise RequestUnansweredError(question_id, ending.outcome.value, ending.reason)
        return ending

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """What is asked and decided on this run's branch while the block runs; for observers.

        Whoever opens and ends a question tells it, in any process, also where no bots run:
        each request and each outcome once, as the store has recorded it.

        Raises:
            SubscriptionLostError: events may have been missed.
        """
        return observed(self.backend.bus, self.run)


class SyncGate:
    """The methods of a gate by the same names: each blocks its thread until it returns.

    In an event loop's own thread everything else in that loop stands still, too.
    """

    def __init__(self, gate: Gate, block: Block) -> None:
        self.check = block(gate.check)
        self.before_function = block(gate.before_function)
        self.check_batch = self.before_batch = block(gate.check_batch)
        self.submit = block(gate.submit)
        self.submit_batch = block(gate.submit_batch)
        self.resume = block(gate.resume)
        self.resume_batch = block(gate.resume_batch)
        self.ask = block(gate.ask)
        self.clarify = block(gate.clarify)
        self.approve_text = block(gate.approve_text)
        self.collect = block(gate.collect)
        self.may_continue = block(gate.may_continue)
        self.cancel = block(gate.cancel)
        self.cancel_all = block(gate.cancel_all)
        self.emit = block(gate.emit)
        self.wait_for_response = block(gate.wait_for_response)
        self.before_iteration = gate.before_iteration
        self.deny_call = gate.deny_call
