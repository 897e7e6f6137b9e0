"""Tools behind a policy: every call passes it, with a gate or with a handler in its place."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, cast

from sayso.agent.copies import taken
from sayso.agent.timeouts import DEFAULT_TIMEOUT_SECONDS, Time, Timeout, in_seconds
from sayso.agent.tools.guard import guarded
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import CheckResult, decided
from sayso.calls import RunRef, ToolCall
from sayso.digests import arguments_digest, shown_and_digest
from sayso.errors import ConfigError, SaysoError
from sayso.events import Outcome
from sayso.policy.decision import (
    ASK_LINE,
    Decision,
    Policy,
    PolicyContext,
    Ruling,
    denial_by,
    evaluate,
    is_same,
    snapshot,
)
from sayso.rules.declarations import ToolAnnotations, tool_name

_log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[str, dict[str, Any], str], Awaitable[bool]]
"""Stands in for people: ``async (tool_name, arguments, reason) -> bool``; only True approves."""

Tool: TypeAlias = Callable[..., Any]
Wrapped: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]


class Checks(Protocol):
    """What decides on calls: a ``sayso.Gate``, or a ``LocalGate``.

    ``check(call, description=…)`` gives a verdict; it is told the
    ``declaration`` of tools that have one.
    """

    @property
    def check(self) -> Callable[..., Awaitable[CheckResult]]:
        """``async check(call, *, description) -> CheckResult``."""
        ...


class LocalGate:
    """A policy in this process with a handler in place of people. Silence is a denial.

    Without a handler, a call that needs a person is denied. ``timeout`` is in
    seconds, or a timedelta, and at most 30 days.

    Raises:
        ConfigError: the handler is not async.
    """

    def __init__(
        self,
        policy: Policy,
        handler: Handler | None = None,
        *,
        context: PolicyContext | None = None,
        timeout: Time = DEFAULT_TIMEOUT_SECONDS,
    ) -> None:
        if handler is not None and not _is_async(handler):
            raise ConfigError(
                "the handler must be async: async def handler(tool_name, arguments, reason) -> bool"
            )
        self._policy = policy
        self._handler = handler
        self._context = context or PolicyContext(RunRef("local", "local"))
        self._unasked = Unasked(self._context.run)
        self._seconds = in_seconds(timeout)

    async def check(
        self,
        call: ToolCall,
        *,
        description: str = "",  # noqa: ARG002  a handler is not told
        declaration: ToolAnnotations | None = None,
    ) -> CheckResult:
        """May this call run? Asks the handler when the policy says so."""
        handed, call = call, taken(call)
        context = replace(self._context, declaration=declaration or self._context.declaration)
        decision = await evaluate(self._policy, call, context)
        if decision is None:
            decision = Decision.ASK.because("the policy has no opinion", line=ASK_LINE)
        if decision.ruling is not Ruling.ASK:
            return self._unasked.log(call, decided(call, decision))
        if self._handler is None:
            why = f"{_why(decision)}, and there is no way to ask"
            return self._unasked.log(call, _no(call, why, decision.line))
        asked = decision.applied_to(call)
        verdict = await self._ask(self._handler, asked, decision)
        if verdict.approved:
            # Denied while the handler was asked: nothing comes before that.
            for one in (call, asked):
                denial = await denial_by(self._policy, one, context)
                if denial is not None:
                    return self._unasked.log(asked, decided(asked, denial))
            if not is_same(snapshot(call.arguments), snapshot(handed.arguments)):
                return _no(call, "its arguments changed while the handler was asked", "handler")
        return verdict

    async def _ask(self, handler: Handler, call: ToolCall, decision: Decision) -> CheckResult:
        limit = asyncio.timeout(self._seconds)
        before = _cancellations()
        refusal: CheckResult | None = None
        try:
            shown, digest = shown_and_digest(call.arguments)
            async with limit:
                approved = await handler(call.name, shown, decision.reason)
            if approved is not True:
                refusal = _no(call, f"the handler said no ({_why(decision)})", "handler")
            elif arguments_digest(call.arguments) != digest:
                refusal = _no(call, "its arguments changed while the handler was asked", "handler")
        except asyncio.CancelledError:
            if _cancellations() > before:
                raise
            refusal = _no(call, "the handler cancelled itself", "handler")
        except Exception as error:  # whatever happens in a handler, nothing runs
            refusal = _failed(call, error, expired=limit.expired())
        # Whatever the handler makes of being cancelled: it is too late for a yes.
        if limit.expired():
            text = "the handler did not answer in time"
            return replace(_no(call, text, "handler"), outcome=Outcome.EXPIRED)
        if _cancellations() > before:
            raise asyncio.CancelledError
        return refusal or decided(call, replace(decision, ruling=Ruling.ALLOW, line="handler"))


def _cancellations() -> int:
    """How often this task was told to end, and still is."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def _failed(call: ToolCall, error: Exception, *, expired: bool) -> CheckResult:
    kind = type(error).__name__
    if not (expired and isinstance(error, TimeoutError)):
        _log.error("the handler raised %s, so %s is denied", kind, call.name)
    detail = f": {error}" if isinstance(error, SaysoError) else ""
    return _no(call, f"the handler raised {kind}{detail}", "handler")


def wrap(
    tools: Mapping[str, Tool] | Iterable[Tool],
    policy: Policy | None = None,
    *,
    handler: Handler | None = None,
    gate: Checks | None = None,
    context: PolicyContext | None = None,
    timeout: Timeout = None,
    raises: bool = False,
) -> dict[str, Wrapped]:
    """The tools by name, each asking before it runs; all of them are async.

    Give a policy, with an async handler for the calls that need a person, or a
    gate, which has a policy of its own. ``timeout`` is how long the handler may
    take, ten minutes unless told. A call that is not approved does not run:
    its result says what happened, or ToolBlocked is raised with ``raises``.
    Arguments that the policy changed are what runs.

    Raises:
        ConfigError: both or neither of policy and gate, a handler that is not
            async, a tool without a name, guarded already, or two of one name.
    """
    checks = _checks(policy, handler, gate, context, timeout)
    return {
        name: guarded(checks.check, tool, raises=raises, name=name) for name, tool in named(tools)
    }


def named(tools: Mapping[str, Tool] | Iterable[Tool]) -> list[tuple[str, Tool]]:
    """The tools with the name that each goes by.

    Raises:
        ConfigError: one has no name, or two have the same.
    """
    if isinstance(tools, Mapping):
        return list(cast("Mapping[str, Tool]", tools).items())
    found: dict[str, Tool] = {}
    for tool in tools:
        name = tool_name(tool)
        if name in found:
            raise ConfigError(f"two tools are called {name}: pass them by name")
        found[name] = tool
    return list(found.items())


def _checks(
    policy: Policy | None,
    handler: Handler | None,
    gate: Checks | None,
    context: PolicyContext | None,
    timeout: Timeout,
) -> Checks:
    if policy is not None and gate is None:
        seconds = DEFAULT_TIMEOUT_SECONDS if timeout is None else timeout
        return LocalGate(policy, handler, context=context, timeout=seconds)
    if gate is None or policy is not None:
        raise ConfigError("wrap takes either a policy or a gate, which has its own")
    if handler is not None or context is not None or timeout is not None:
        text = "a gate asks people itself: wrap takes no handler, context or timeout with it"
        raise ConfigError(text)
    return gate


def _is_async(handler: Handler) -> bool:
    called = getattr(handler, "__call__", None)  # noqa: B004  what runs when it is called
    return any(
        inspect.iscoroutinefunction(inspect.unwrap(one))
        for one in (handler, called)
        if callable(one)
    )


def _no(call: ToolCall, reason: str, line: str) -> CheckResult:
    return decided(call, Decision.DENY.because(reason, line=line))


def _why(decision: Decision) -> str:
    return decision.reason or "the policy asks for a person"
