"""Many calls in one go: asked one after the other, run side by side, each answered once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, Unpack
from weakref import WeakValueDictionary

from sayso.agent.copies import own, taken
from sayso.agent.options import Asked, CallOptions
from sayso.agent.timeouts import CallTime, Timeout
from sayso.agent.tools.guard import result_of
from sayso.agent.tools.tool import first_line
from sayso.agent.verdict import CheckResult, PendingResult
from sayso.always.widths import shared_out
from sayso.calls import ToolCall
from sayso.digests import arguments_digest, is_digest_of
from sayso.errors import ArgumentsChangedError, InvalidCallError
from sayso.events import Outcome, Resolution
from sayso.rules.declarations import declared_by
from sayso.stores.protocols import Record, check_key

_T = TypeVar("_T")

_MOST_ANSWERS = 10_000

Tools = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class CallResult:
    """What one call of a batch came to.

    ``content`` is what the agent is told: the tool's own result, or a string
    that says why there is none. ``error`` is what the tool, or asking about
    it, raised.
    """

    call: ToolCall
    verdict: CheckResult
    content: Any
    error: Exception | None = None

    @property
    def ran(self) -> bool:
        """Whether the tool ran to its end."""
        return self.verdict.approved and self.error is None


@dataclass(frozen=True, slots=True)
class SubmittedCall:
    """A submitted call; ``said`` is the id of its question, or the verdict that needed nobody.

    Keep it for as long as the batch waits, in this process or in a file:
    ``TypeAdapter(list[SubmittedCall])`` of pydantic writes it as JSON and reads it
    again. The arguments in it are plain JSON values. ``source_name`` and
    ``path`` say who asked.
    """

    call: ToolCall
    said: str | CheckResult
    source_name: str = ""
    path: tuple[str, ...] = ()

    @property
    def permission_id(self) -> str | None:
        """The id of the question; None where nobody had to be asked."""
        return self.said if isinstance(self.said, str) else None

    @property
    def verdict(self) -> CheckResult | None:
        """The verdict as it was at once; None where there is a question."""
        return self.said if isinstance(self.said, CheckResult) else None


@dataclass(frozen=True, slots=True)
class _Answer:
    tool: str
    digest: str
    verdict: CheckResult


class Answers:
    """The verdicts of one iteration, by call id. A call is answered for its arguments only.

    A new iteration has new ones: what was asked in the last one is noted there.
    The newest 10,000 are known: whoever never begins one is asked again about the others.
    """

    def __init__(self) -> None:
        self._answers: dict[str, _Answer] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def _turn(self, call: ToolCall) -> AbstractAsyncContextManager[None]:
        """One at a time for each call id, so that none is asked about twice at once."""
        lock = self._turns.get(call.call_id)
        if lock is None:
            lock = self._turns[call.call_id] = asyncio.Lock()
        return lock

    async def once(
        self, call: ToolCall, check: Callable[[], Awaitable[CheckResult]]
    ) -> CheckResult:
        """The verdict of a check, noted; checks of one call id wait for each other."""
        digest = arguments_digest(call.arguments)
        async with self._turn(call):
            verdict = await check()
            self.note(call.call_id, digest, verdict)
        return verdict

    def note(self, call_id: str, digest: str, verdict: CheckResult) -> None:
        """Keep the verdict for a call with these arguments."""
        noted = replace(verdict, arguments=own(verdict.arguments))
        self._answers.pop(call_id, None)
        self._answers[call_id] = _Answer(verdict.tool, digest, noted)
        if len(self._answers) > _MOST_ANSWERS:
            del self._answers[next(iter(self._answers))]

    def find(self, call: ToolCall) -> CheckResult | None:
        """The verdict on this very call: same id, same tool, same arguments.

        It has arguments of its own: whoever was given it before may have changed those.
        """
        known = self._answers.get(call.call_id)
        if known is None or known.tool != call.name:
            return None
        if not is_digest_of(known.digest, call.arguments):
            return None
        return replace(known.verdict, arguments=own(known.verdict.arguments))


def check_unchanged(verdict: CheckResult, digest: str) -> None:
    """See that an approved verdict still carries the arguments it was given with.

    Raises:
        ArgumentsChangedError: it does not.
    """
    if verdict.approved and arguments_digest(verdict.arguments) != digest:
        raise ArgumentsChangedError(
            f"the arguments of {verdict.tool!r} changed after they were approved: ask again"
        )


class Ask(Protocol):
    """The third phase of a gate: the verdict on one call."""

    def __call__(
        self, call: ToolCall, **how: Unpack[CallOptions]
    ) -> Coroutine[Any, Any, CheckResult]:
        """May this call run?"""
        ...


class Calls(Protocol):
    """The calls of a gate: see ``sayso.agent.checks.Checks``."""

    @property
    def answers(self) -> Answers:
        """The verdicts of this iteration."""
        ...

    async def hand_in(self, call: ToolCall, asked: Asked) -> SubmittedCall:
        """One call's open question, or the verdict where nobody is needed."""
        ...

    async def submit(self, call: ToolCall, asked: Asked) -> str | CheckResult:
        """The id of a call's question, or the verdict where nobody is needed."""
        ...

    async def resume(
        self, permission_id: str, time: CallTime | None, *, wait: bool
    ) -> CheckResult | PendingResult:
        """The verdict on a submitted call."""
        ...

    async def resume_under(
        self, key: str, time: CallTime | None, *, wait: bool
    ) -> CheckResult | PendingResult:
        """The verdict on the call that was asked under a key."""
        ...

    async def ending(self, record: Record, time: CallTime | None) -> Resolution:
        """How a question of a record ends."""
        ...

    async def look(
        self, one: SubmittedCall | str, answers: Answers, time: CallTime | None, *, wait: bool
    ) -> CheckResult | PendingResult:
        """The verdict on one submitted call, noted in the answers; or that it is still open."""
        ...


def hows(
    calls: Sequence[ToolCall], keys: Sequence[str | None] | None, how: CallOptions
) -> list[CallOptions]:
    """How each of the calls is asked about: its key, and what is suggested for it.

    Raises:
        InvalidCallError: a rule that is suggested is about none of the calls.
        ValueError: there is not a key for each call, or one cannot be a key.
    """
    if how.get("key") is not None:
        raise ValueError("the calls of a batch have a key each: pass keys= instead of key=")
    given = [None] * len(calls) if keys is None else list(keys)
    if len(given) != len(calls):
        raise ValueError(f"{len(calls)} calls have {len(given)} keys: pass one for each, or None")
    for key in given:
        if key is not None:
            check_key(key)
    offered = shared_out(calls, how.get("suggest", ()))
    return [
        CallOptions(**{**how, "key": key, "suggest": rules})
        for key, rules in zip(given, offered, strict=True)
    ]


async def check_batch(
    ask: Ask, calls: Sequence[ToolCall], hows: Sequence[CallOptions], *, together: bool
) -> list[CheckResult]:
    """The verdicts on the calls, asked for in order or all at once."""
    calls = list(map(taken, calls))
    for call in calls:
        arguments_digest(call.arguments)
    asking = (ask(call, **how) for call, how in zip(calls, hows, strict=True))
    return await (side_by_side(asking) if together else one_by_one(asking))


async def run_batch(
    ask: Ask,
    calls: Sequence[ToolCall],
    tools: Tools,
    hows: Sequence[CallOptions],
    *,
    together: bool = False,
) -> list[CallResult]:
    """Ask in order or all at once, then run what is approved side by side; one result a call.

    A call id that appears twice runs once.
    """
    calls = list(map(taken, calls))
    seen: set[str] = set()
    asking: list[Coroutine[Any, Any, CallResult | tuple[ToolCall, CheckResult, str]]] = []
    for call, how in zip(calls, hows, strict=True):
        asking.append(_asked(ask, call, tools, how, is_first=call.call_id not in seen))
        seen.add(call.call_id)
    if together:
        asked = await side_by_side(asking)
    else:
        asked = await one_by_one(asking)
    return await asyncio.gather(
        *(_result(one) if isinstance(one, CallResult) else _run(*one, tools) for one in asked)
    )


async def _asked(
    ask: Ask, call: ToolCall, tools: Tools, how: CallOptions, *, is_first: bool
) -> CallResult | tuple[ToolCall, CheckResult, str]:
    """What a person says of the call and the digest of what would run; or why it does not."""
    tool = tools.get(call.name)
    if not is_first or tool is None:
        # One answer is for one run: the same call twice would run twice on it.
        reason, line = "its call id appears twice in the batch", "not asked"
        if is_first:
            reason, line = "no tool has this name", "no such tool"
        verdict = _refused(call, reason, line)
        return CallResult(call, verdict, verdict.as_tool_result())
    try:
        said = CallOptions(description=first_line(tool), declaration=declared_by(tool))
        said.update(how)
        verdict = await ask(call, **said)
        digest = arguments_digest(verdict.arguments) if verdict.approved else ""
    except (InvalidCallError, ArgumentsChangedError) as error:
        verdict = _refused(call, str(error), "not asked")
        return CallResult(call, verdict, verdict.as_tool_result(), error)
    return call, verdict, digest


async def one_by_one(work: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """What came of each, done in order. After one that fails, the others are not begun."""
    left = list(work)
    try:
        return [await left.pop(0) for _ in range(len(left))]
    finally:
        for one in left:
            one.close()


async def side_by_side(work: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """What came of each, all done at once. When one fails, the others are cancelled first."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def submit_batch(
    checks: Calls, calls: Sequence[ToolCall], asked: Sequence[Asked]
) -> list[SubmittedCall]:
    """Ask about each call once, in order, without waiting."""
    calls = list(map(taken, calls))
    names = [
        (call.call_id, call.name, arguments_digest(call.arguments), how.key)
        for call, how in zip(calls, asked, strict=True)
    ]
    submitted: dict[tuple[str, str, str, str], SubmittedCall] = {}
    for name, call, how in zip(names, calls, asked, strict=True):
        if name not in submitted:
            submitted[name] = await checks.hand_in(call, how)
    return [submitted[name] for name in names]


async def resume_batch(
    checks: Calls,
    submitted: Sequence[SubmittedCall | str],
    timeout: Timeout,
    *,
    wait: bool,
) -> list[CheckResult | PendingResult]:
    """The verdicts on what was submitted, in order; ``timeout`` is for all of them together."""
    for one in submitted:
        if not isinstance(one, SubmittedCall | str):
            raise TypeError(
                f"a {type(one).__name__} does not say which call it is for: "
                "pass what submit_batch gave, or the ids of questions"
            )
    answers = checks.answers
    time = CallTime.limited(timeout)
    results: list[CheckResult | PendingResult] = []
    for one in submitted:
        patient = wait and (time is None or time.left > 0)
        results.append(await checks.look(one, answers, time, wait=patient))
    return results


async def _result(result: CallResult) -> CallResult:
    return result


def _refused(call: ToolCall, reason: str, line: str) -> CheckResult:
    return CheckResult(Outcome.DENIED, call.name, dict(call.arguments), reason, line)


async def _run(call: ToolCall, verdict: CheckResult, digest: str, tools: Tools) -> CallResult:
    if not verdict.approved:
        return CallResult(call, verdict, verdict.as_tool_result())
    task = asyncio.current_task()
    try:
        # Others were asked about in the meantime: what was approved is what runs.
        check_unchanged(verdict, digest)
        content = await result_of(tools[call.name](**verdict.arguments))
    except asyncio.CancelledError:
        if task is None or task.cancelling():
            raise
        error: Exception = RuntimeError("it cancelled itself")
    except Exception as raised:
        error = raised
    else:
        return CallResult(call, verdict, content)
    said = f": {error}" if str(error) else ""
    text = f"The call of {call.name} failed with {type(error).__name__}{said}"
    return CallResult(call, verdict, text, error)
