"""What a handle does for its callers: the methods of a gate, each for a run of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, Unpack, overload

from pydantic import BaseModel

from sayso.agent.batch import SubmittedCall
from sayso.agent.copies import refuse_changed, taken
from sayso.agent.gate import Gate
from sayso.agent.handle.countdown import Countdown
from sayso.agent.handle.jobs import Job
from sayso.agent.handle.waits import Wait
from sayso.agent.options import AskOptions, CallOptions, GateOptions
from sayso.agent.timeouts import CallTime, Timeout, in_seconds
from sayso.agent.verdict import CheckResult, PendingResult, given_up, out_of_time
from sayso.calls import RunRef, ToolCall
from sayso.errors import GateClosedError, WaitTimeoutError
from sayso.events import Resolution, UserInputRequest
from sayso.questions.inquiry import Question

if TYPE_CHECKING:
    from sayso.questions.clarification import Clarification
    from sayso.questions.continuation import Continuation
    from sayso.questions.structured_input import Collected
    from sayso.questions.text_approval import TextApproval

_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)
_Request = TypeVar("_Request", bound=UserInputRequest)

Run: TypeAlias = RunRef | str | int | None
"""A run, or the id of a session of the handle's agent; None is the handle's own session."""

Work: TypeAlias = Callable[[Gate], Coroutine[Any, Any, _T]]


class Begin(Protocol):
    """Hands work to the handle's thread."""

    def __call__(self, run: Run, work: Work[_T]) -> Job[_T]:
        """The work, with the gate of the run.

        Raises:
            GateClosedError: the handle takes no more work.
        """
        ...


class Methods:
    """The methods of a handle; ``wait`` is how their callers wait for its thread.

    They do what those of a ``sayso.Gate`` do, and raise what those raise. ``run`` says
    for whom. Where nothing comes of one in time, because the thread is held up, a call
    has expired and anything else raises WaitTimeoutError; where the handle is closed, or
    closes meanwhile, a call was cancelled and anything else raises GateClosedError.
    """

    def __init__(self, begin: Begin, wait: Wait, options: GateOptions) -> None:
        self._begin = begin
        self._wait = wait
        self._timeout = options.timeout
        # Reading a record and ending it may each take as long as the store is waited for.
        self._store_timeout = 2 * in_seconds(options.patience)

    async def check(
        self, call: ToolCall, *, run: Run = None, **how: Unpack[CallOptions]
    ) -> CheckResult:
        """May this call run? See ``sayso.Gate.check``. To cancel it withdraws its question."""
        return await self._verdict(Gate.check, call, run, how)

    async def before_function(
        self, call: ToolCall, *, run: Run = None, **how: Unpack[CallOptions]
    ) -> CheckResult:
        """``check`` a call that is about to run, once an iteration for its id."""
        return await self._verdict(Gate.before_function, call, run, how)

    async def check_batch(
        self,
        calls: Sequence[ToolCall],
        *,
        run: Run = None,
        together: bool = False,
        keys: Sequence[str | None] | None = None,
        **how: Unpack[CallOptions],
    ) -> list[CheckResult]:
        """Ask about the calls before any of them runs: see ``sayso.Gate.check_batch``."""
        handed, calls, time = calls, list(map(taken, calls)), self._time(how)
        try:
            job = self._begin(
                run,
                lambda gate: gate.check_batch(
                    calls, together=together, keys=keys, **_in(time, how)
                ),
            )
            verdicts = await self._done(job, time)
        except WaitTimeoutError:
            return [out_of_time(call, time.seconds) for call in calls]
        except GateClosedError as error:
            if error.is_wrong_loop:
                raise
            return [given_up(call, str(error)) for call in calls]
        for call, was, verdict in zip(calls, handed, verdicts, strict=True):
            if verdict.approved:
                refuse_changed(was, call)
        return verdicts

    @overload
    async def submit(
        self, call: ToolCall, *, run: Run = None, **how: Unpack[CallOptions]
    ) -> str | CheckResult: ...
    @overload
    async def submit(
        self, call: Question[Any, Any], *, run: Run = None, **how: Unpack[AskOptions]
    ) -> str: ...
    async def submit(
        self, call: ToolCall | Question[Any, Any], *, run: Run = None, **how: Unpack[CallOptions]
    ) -> Any:
        """Ask and do not wait for the answer: see ``sayso.Gate.submit``."""
        asked: Any = taken(call) if isinstance(call, ToolCall) else call
        time = self._time(how)
        return await self._done(
            self._begin(run, lambda gate: gate.submit(asked, **_in(time, how))), time
        )

    async def submit_batch(
        self,
        calls: Sequence[ToolCall],
        *,
        run: Run = None,
        keys: Sequence[str | None] | None = None,
        **how: Unpack[CallOptions],
    ) -> list[SubmittedCall]:
        """Ask about all of the calls without waiting: see ``sayso.Gate.submit_batch``."""
        calls, time = list(map(taken, calls)), self._time(how)
        return await self._done(
            self._begin(run, lambda gate: gate.submit_batch(calls, keys=keys, **_in(time, how))),
            time,
        )

    @overload
    async def resume(
        self,
        permission_id: str | None = None,
        *,
        key: str | None = None,
        run: Run = None,
        timeout: Timeout = None,
        wait: Literal[True] = True,
    ) -> CheckResult: ...
    @overload
    async def resume(
        self,
        permission_id: str | None = None,
        *,
        key: str | None = None,
        run: Run = None,
        timeout: Timeout = None,
        wait: bool,
    ) -> CheckResult | PendingResult: ...
    @overload
    async def resume(
        self,
        permission_id: str,
        *,
        run: Run = None,
        timeout: Timeout = None,
        expect: type[_Model],
    ) -> Collected[_Model]: ...
    @overload
    async def resume(
        self, permission_id: str, *, run: Run = None, timeout: Timeout = None, expect: type[_T]
    ) -> _T: ...
    async def resume(
        self,
        permission_id: str | None = None,
        *,
        key: str | None = None,
        run: Run = None,
        timeout: Timeout = None,
        wait: bool = True,
        expect: type[Any] = CheckResult,
    ) -> Any:
        """What came of a question of the run's session: see ``sayso.Gate.resume``."""
        time = Countdown(timeout)
        named: dict[str, Any] = {"permission_id": permission_id, "key": key, "expect": expect}

        def work(gate: Gate) -> Coroutine[Any, Any, Any]:
            return gate.resume(**named, timeout=time.rest, wait=wait)

        return await self._done(self._begin(run, work), time)

    async def resume_batch(
        self,
        submitted: Sequence[SubmittedCall | str],
        *,
        run: Run = None,
        timeout: Timeout = None,
        wait: bool = True,
    ) -> list[CheckResult | PendingResult]:
        """The verdicts on a submitted batch: see ``sayso.Gate.resume_batch``."""
        time = Countdown(timeout)
        return await self._done(
            self._begin(
                run, lambda gate: gate.resume_batch(submitted, timeout=time.rest, wait=wait)
            ),
            time,
        )

    async def ask(
        self, inquiry: Question[_Request, _T], *, run: Run = None, **how: Unpack[AskOptions]
    ) -> _T:
        """Ask a question that is not a call: see ``sayso.Gate.ask``."""
        time = self._time(how)
        return await self._done(
            self._begin(run, lambda gate: gate.ask(inquiry, **_in(time, how))), time
        )

    async def clarify(
        self,
        question: str,
        *,
        run: Run = None,
        context: str = "",
        options: Sequence[str] = (),
        allow_other: bool = True,
        **how: Unpack[AskOptions],
    ) -> Clarification:
        """Ask a person a question in words, with a button for each option where there are some."""
        from sayso.questions.clarification import Clarify

        return await self.ask(Clarify(question, context, options, allow_other), run=run, **how)

    async def approve_text(
        self,
        text: str,
        *,
        run: Run = None,
        title: str = "Text to approve",
        context: str = "",
        **how: Unpack[AskOptions],
    ) -> TextApproval:
        """May this text be used as it is? What is approved is what was shown, in full."""
        from sayso.questions.text_approval import ApproveText

        return await self.ask(ApproveText(text, title, context), run=run, **how)

    @overload
    async def collect(
        self, schema: type[_Model], *, text: str, run: Run = None, **how: Unpack[AskOptions]
    ) -> Collected[_Model]: ...
    @overload
    async def collect(
        self, schema: Mapping[str, Any], *, text: str, run: Run = None, **how: Unpack[AskOptions]
    ) -> Collected[dict[str, Any]]: ...
    async def collect(
        self, schema: Any, *, text: str, run: Run = None, **how: Unpack[AskOptions]
    ) -> Any:
        """Ask a person for data: a dict for a JSON Schema, an instance for a pydantic model."""
        from sayso.questions.structured_input import Collect

        return await self.ask(Collect(schema, text), run=run, **how)

    async def may_continue(
        self,
        current: int,
        maximum: int,
        *,
        run: Run = None,
        amounts: Sequence[int] | None = None,
        description: str = "",
        **how: Unpack[AskOptions],
    ) -> Continuation:
        """May the run go on after its iteration limit? See ``sayso.Gate.may_continue``."""
        from sayso.questions.continuation import Continue

        return await self.ask(Continue(current, maximum, amounts, description), run=run, **how)

    async def cancel(self, question_id: str, *, run: Run = None, reason: str = "") -> Resolution:
        """Withdraw a question of the run's session and its cards: see ``sayso.Gate.cancel``."""
        return await self._done(
            self._begin(run, lambda gate: gate.cancel(question_id, reason=reason)),
            Countdown(self._store_timeout),
        )

    async def cancel_all(
        self, *, run: Run = None, whole_session: bool = False, reason: str = ""
    ) -> list[Resolution]:
        """Withdraw every open question of the run: see ``sayso.Gate.cancel_all``."""

        def work(gate: Gate) -> Coroutine[Any, Any, list[Resolution]]:
            return gate.cancel_all(whole_session=whole_session, reason=reason)

        return await self._done(self._begin(run, work), Countdown(self._store_timeout))

    async def before_iteration(self, *, run: Run = None) -> None:
        """A new iteration of the run begins, and no answer of the last one counts for it."""

        async def work(gate: Gate) -> None:
            gate.before_iteration()

        await self._done(self._begin(run, work), Countdown(self._store_timeout))

    async def deny_call(self, call_id: str, *, run: Run = None, reason: str = "") -> None:
        """Deny this call id in the run from now on: see ``sayso.Gate.deny_call``."""

        async def work(gate: Gate) -> None:
            gate.deny_call(call_id, reason=reason)

        await self._done(self._begin(run, work), Countdown(self._store_timeout))

    async def _verdict(
        self,
        ask: Callable[..., Coroutine[Any, Any, CheckResult]],
        call: ToolCall,
        run: Run,
        how: CallOptions,
    ) -> CheckResult:
        """What a method of the gate says of a call."""
        handed, call, time = call, taken(call), self._time(how)
        try:
            job = self._begin(run, lambda gate: ask(gate, call, **_in(time, how)))
            verdict = await self._done(job, time)
        except WaitTimeoutError:
            return out_of_time(call, time.seconds)
        except GateClosedError as error:
            if error.is_wrong_loop:
                raise
            return given_up(call, str(error))
        if verdict.approved:
            refuse_changed(handed, call)
        return verdict

    def _time(self, how: AskOptions) -> Countdown:
        timeout = how.get("timeout")
        if isinstance(timeout, CallTime):
            raise TypeError("a handle takes its timeout in seconds or as a timedelta")  # of a loop
        return Countdown(self._timeout if timeout is None else timeout)

    async def _done(self, job: Job[_T], time: Countdown) -> _T:
        """What came of a job; given up when its caller is cancelled, or its time is over."""
        outcome = job.outcome
        try:
            await self._wait(outcome, time.patience)
        finally:
            # What is done cannot be cancelled; whoever left before does not wait for it any more.
            gave_up = outcome.cancel()
        if gave_up:
            raise WaitTimeoutError(
                f"the handle's thread is held up, and nothing came of it in {time.seconds:g} s"
            )
        return outcome.result()


def _in(time: Countdown, how: CallOptions | AskOptions) -> Any:
    """The options of a call with what is left of its time, in the thread where it is made."""
    return {**how, "timeout": time.there}
