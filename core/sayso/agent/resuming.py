"""Questions that are asked in one place and heard of in another: submitted, resumed, withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from pydantic import BaseModel

from sayso.agent import batch
from sayso.agent.asking import Asking
from sayso.agent.options import AskOptions, CallOptions, GateOptions
from sayso.agent.timeouts import CallTime, Timeout
from sayso.agent.verdict import CheckResult, PendingResult
from sayso.agent.waiting import Questions
from sayso.calls import RunRef, ToolCall
from sayso.errors import WrongRequestTypeError
from sayso.events import Resolution, UserInputRequest
from sayso.questions.inquiry import Question

if TYPE_CHECKING:
    from sayso.questions.structured_input import Collected

_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)


class Resuming(Asking):
    """Asks without waiting, and hears later what came of it, in this process or another one."""

    def __init__(self, questions: Questions, options: GateOptions, calls: batch.Calls) -> None:
        super().__init__(questions, options)
        self._calls = calls

    @overload
    async def submit(self, call: ToolCall, **how: Unpack[CallOptions]) -> str | CheckResult: ...
    @overload
    async def submit(self, call: Question[Any, Any], **how: Unpack[AskOptions]) -> str: ...
    async def submit(
        self, call: ToolCall | Question[Any, Any], **how: Unpack[CallOptions]
    ) -> str | CheckResult:
        """Ask and do not wait: the id of the question, for ``resume`` here or elsewhere.

        Where the policy decides on a call without a person, its verdict comes
        back at once. What is not a call (Clarify, ApproveText, Collect,
        Continue, or a kind of your own) is always asked.

        Raises:
            InvalidCallError, IdempotencyConflictError, SchemaError, ValueError: as for ``check``
                and ``ask``.
        """
        if isinstance(call, ToolCall):
            return await self._calls.submit(call, self._options.asked(**how))
        request: UserInputRequest = self._request(call, how)
        await self._questions.ask(request)
        return request.question_id

    @overload
    async def resume(
        self,
        permission_id: str | None = None,
        *,
        key: str | None = None,
        timeout: Timeout = None,
        wait: Literal[True] = True,
    ) -> CheckResult: ...
    @overload
    async def resume(
        self,
        permission_id: str | None = None,
        *,
        key: str | None = None,
        timeout: Timeout = None,
        wait: bool,
    ) -> CheckResult | PendingResult: ...
    @overload
    async def resume(
        self, permission_id: str, *, timeout: Timeout = None, expect: type[_Model]
    ) -> Collected[_Model]: ...
    @overload
    async def resume(
        self, permission_id: str, *, timeout: Timeout = None, expect: type[_T]
    ) -> _T: ...
    async def resume(
        self,
        permission_id: str | None = None,
        *,
        key: str | None = None,
        timeout: Timeout = None,
        wait: bool = True,
        expect: type[Any] = CheckResult,
    ) -> Any:
        """What came of a question asked earlier, in this process or another one.

        It is named by its id, or by the ``key`` that its call was asked under. Without
        ``wait`` an open question is reported as ``PendingResult``, at once.

        ``expect`` is the kind of result: a verdict unless told, Clarification,
        TextApproval, Continuation, Collected, the pydantic model that was to
        be collected, or the ``result_type`` of a request of your own.

        Raises:
            RequestNotFoundError: no such request or key, or its record has been removed.
            WrongRequestTypeError: the request is another kind of question.
            WaitTimeoutError: ``timeout`` is over and the question is still open.
            InvalidInputError: what came back is not what the schema or the model allows.
        """
        time = CallTime.limited(timeout)
        if key is not None:
            if permission_id is not None or expect is not CheckResult:
                raise TypeError("name a question by its id or by the key of its call, not by both")
            return await self._calls.resume_under(key, time, wait=wait)
        if permission_id is None:
            raise TypeError("name the question, by its id or by the key of its call")
        if expect is CheckResult:
            return await self._calls.resume(permission_id, time, wait=wait)
        record = await self._questions.record(permission_id, time)
        if (read := record.request.reader(expect)) is None:
            raise WrongRequestTypeError(permission_id, record.request.subject, expect.__name__)
        return read(await self._calls.ending(record, time))

    async def submit_batch(
        self,
        calls: Sequence[ToolCall],
        *,
        keys: Sequence[str | None] | None = None,
        **how: Unpack[CallOptions],
    ) -> list[batch.SubmittedCall]:
        """Ask about all of the calls, in order, without waiting: see ``resume_batch``.

        A call that is there twice is asked about once. What comes back can be stored.
        ``keys`` has the key of each call, see ``check_batch``.

        Raises:
            InvalidCallError: some arguments cannot be shown; nobody was asked.
        """
        hows = batch.hows(calls, keys, self._options.shared(how))
        asked = [self._options.asked(**one) for one in hows]
        return await batch.submit_batch(self._calls, calls, asked)

    async def resume_batch(
        self,
        submitted: Sequence[batch.SubmittedCall | str],
        *,
        timeout: Timeout = None,
        wait: bool = True,
    ) -> list[CheckResult | PendingResult]:
        """The verdicts on a submitted batch, in order, in this process or another one.

        Ids of questions will do too. What is still open when ``timeout`` is
        over, or at once without ``wait``, is reported as ``PendingResult``; the
        others can run. Later checks of the same calls reuse the verdicts.

        What was approved at once is denied if it has been denied since, or if
        the remembered rule is gone: then the next check asks a person.

        Raises:
            TypeError: a bare verdict does not say which call it is for.
            RequestNotFoundError: no such request, or its record has been removed.
        """
        return await batch.resume_batch(self._calls, submitted, timeout, wait=wait)

    async def cancel(self, question_id: str, *, reason: str = "") -> Resolution:
        """Withdraw a question of this session and its cards; the ending that counts.

        That may be an answer.

        Raises:
            RequestNotFoundError: the session has no such request.
        """
        return await self._questions.cancel(question_id, reason=reason)

    async def cancel_all(
        self, run: RunRef | None = None, *, whole_session: bool = False, reason: str = ""
    ) -> list[Resolution]:
        """Withdraw every open question of this run, and their cards; the endings that count.

        Or of another ``run`` of its session, or of the ``whole_session``, on all of its
        branches and in all processes. Answers that came first are among the endings. A
        question that is asked meanwhile is withdrawn, too, or waited for as ever.

        Raises:
            ValueError: the run is of another session.
        """
        named = self._options.run if run is None else run
        if not named.is_in_session_of(self._options.run):
            raise ValueError("the run is of another session: open a gate for that one")
        return await self._questions.cancel_all(None if whole_session else named, reason=reason)
