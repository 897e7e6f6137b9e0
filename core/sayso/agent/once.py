"""Calls that are asked once: what was asked under a key is joined, not asked again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sayso.agent.decider import Decider
from sayso.agent.options import Asked, GateOptions
from sayso.agent.patience import counting
from sayso.agent.verdict import CheckResult, OpenCheck, out_of_time
from sayso.agent.waiting import Questions
from sayso.calls import ToolCall
from sayso.digests import arguments_digest, is_digest_of
from sayso.errors import (
    IdempotencyConflictError,
    SaysoError,
    StoreUnreachableError,
    WaitTimeoutError,
)
from sayso.events import Resolution
from sayso.questions.permission import PermissionRequestEvent, call_of, calls_of
from sayso.stores.backend import Backend
from sayso.stores.protocols import Hold, Joined, Record, Ring

_log = logging.getLogger(__name__)

# A question that ends so much later than a call that joined it is over for both of them.
_SAME_SECONDS = 0.25


class Once:
    """Finds and joins the questions that a session asked under a key.

    The last who waits for such a question and leaves it without an answer
    withdraws it, and its key is free again. What was submitted stays open.
    """

    def __init__(
        self,
        backend: Backend,
        questions: Questions,
        decider: Decider,
        options: GateOptions,
    ) -> None:
        self._keyed = backend.store
        self._store = backend.store
        self._backend = backend
        self._questions = questions
        self._decider = decider
        self._options = options

    async def find(self, call: ToolCall, asked: Asked, waiter: str | None) -> Joined | None:
        """What was asked under the key of a call; None where nothing was.

        ``waiter`` waits for its end; without one, somebody comes back for it.
        What is open and denied by now is recorded as denied: nobody needs to answer it.

        Raises:
            IdempotencyConflictError: that was another call.
        """
        if waiter is None:
            record = await self.under(asked.key)
            if record is None:
                return None
            _check_same(record, call, asked)
        record = await self.under(asked.key, hold=True, waiter=waiter)
        return None if record is None else await self.joined(record, call, asked)

    async def under(
        self, key: str, *, hold: bool = False, waiter: str | None = None
    ) -> Record | None:
        """The question that the session asked under a key; held by a waiter, or for good."""

        async def attempt() -> Record | None:
            held = Hold() if hold else None
            if waiter is not None:
                # Whoever hears nothing counts as gone.
                inbox = self._backend.inbox
                await inbox.listening()
                held = Hold(waiter, inbox.name)
            return await self._keyed.get_by_key(self._options.run, key, hold=held)

        return await self._questions.patience(attempt)

    async def joined(self, record: Record, call: ToolCall, asked: Asked) -> Joined:
        """The question of a record, which was asked about this very call.

        Raises:
            IdempotencyConflictError: it was asked about another one.
        """
        request = _check_same(record, call, asked)
        if record.ending is not None:
            return Joined(record)
        self._questions.tell(request)
        denial = await self._decider.denial(asked.asker, *calls_of(request))
        if denial is None:
            return Joined(record)
        at = self._options.clock()
        denied = request.denied(reason=denial.reason, line=denial.line, at=at)
        settled = await self._questions.patience(
            lambda: self._store.settle(request.permission_id, denied)
        )
        return Joined(replace(record, ending=settled.ending))

    async def ending(
        self, joined: Joined, call: ToolCall, asked: Asked, waiter: str
    ) -> tuple[OpenCheck, Ring] | CheckResult:
        """How a question that was asked before ends; expired if the time of this call is over."""
        request = _check_same(joined.record, call, asked)
        try:
            ending = await self._ending(joined.record, asked)
        except WaitTimeoutError:
            self._leave_later(asked.key, waiter, withdraw=False)
            late = out_of_time(call, asked.time.seconds, "the question is still open")
            return replace(late, permission_id=request.permission_id)
        # The caller's own values, where they are what was asked about.
        runs = call if request.original_arguments is None else call_of(request)
        return OpenCheck(runs, request.permission_id, request.arguments_digest), Ring(ending)

    async def _ending(self, record: Record, asked: Asked) -> Resolution:
        if record.ending is not None:
            return record.ending
        ends_first = record.seconds_left <= asked.time.left + _SAME_SECONDS
        return await self._questions.wait(record, None if ends_first else asked.time)

    @contextmanager
    def waiting(self, key: str, waiter: str) -> Iterator[None]:
        """In the block somebody waits under the key: whoever leaves it early gives up the hold.

        The last one who is cancelled, or cannot be told of the answer, withdraws the question.
        """
        try:
            yield
        except (asyncio.CancelledError, StoreUnreachableError):
            self._leave_later(key, waiter, withdraw=True)
            raise
        except IdempotencyConflictError:
            self._leave_later(key, waiter, withdraw=False)
            raise

    def _leave_later(self, key: str, waiter: str, *, withdraw: bool) -> None:
        self._questions.in_background(self._leave_quietly(key, waiter, withdraw=withdraw))

    async def _leave_quietly(self, key: str, waiter: str, *, withdraw: bool) -> None:
        try:
            with counting(None):
                record = await self.under(key)
                if record is not None and record.ending is None:
                    ending = self._questions.withdrawal(record) if withdraw else None
                    question_id = record.request.question_id
                    await self._questions.patience(
                        lambda: self._keyed.release_hold(question_id, waiter, ending=ending)
                    )
        except SaysoError as error:
            _log.warning("a question stays open until it expires: %s", error)


def _check_same(record: Record, call: ToolCall, asked: Asked) -> PermissionRequestEvent:
    """The request of a record, if it asks about this very call, for the same account.

    Raises:
        IdempotencyConflictError: it does not.
    """
    request = record.request
    if not isinstance(request, PermissionRequestEvent):
        raise IdempotencyConflictError(asked.key, "that was another kind of question")
    if request.function_name != call.name:
        raise IdempotencyConflictError(
            asked.key, f"that was a call of {request.function_name!r:.80}"
        )
    if not _is_called_so(request, call):
        raise IdempotencyConflictError(
            asked.key, f"{call.name!r:.80} was called with other arguments"
        )
    if asked.requested_by not in (None, request.requested_by):
        # They may not approve what they want themselves, and could have approved that.
        raise IdempotencyConflictError(asked.key, "that was requested by another account")
    return request


def _is_called_so(request: PermissionRequestEvent, call: ToolCall) -> bool:
    """Whether the agent called with these arguments, whatever a policy made of them."""
    if (called := request.original_arguments) is None:
        return is_digest_of(request.arguments_digest, call.arguments)
    return arguments_digest(called) == arguments_digest(call.arguments)
