"""Connect a gate for every loop and every thread of a process."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, ParamSpec, Self, TypeVar, overload

from pydantic import ValidationError

from sayso.agent.connected.gates import Asker
from sayso.agent.connected.thread import Job, Lifetime, Wait, Work, in_its_loop, in_this_thread
from sayso.agent.copies import refuse_changed, taken
from sayso.agent.gate import Gate, SyncGate
from sayso.agent.options import GateOptions, check_name
from sayso.agent.place import here
from sayso.agent.sync_gate import block_without_loop
from sayso.agent.timeouts import (
    DEFAULT_PATIENCE_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    CallTime,
    Countdown,
    Time,
    Timeout,
    in_seconds,
)
from sayso.agent.tools.guard import guarded_alike
from sayso.agent.tools.wrap import Tool, named
from sayso.agent.verdict import given_up, out_of_time
from sayso.calls import Folder, RunRef, ToolCall, new_id
from sayso.errors import ConfigError, GateClosedError, WaitTimeoutError
from sayso.events import Event
from sayso.policy.decision import Policy
from sayso.stores.connect import check_url
from sayso.where import Where

_P = ParamSpec("_P")
_T = TypeVar("_T")

STORE_VARIABLE = "SAYSO_STORE_URL"
"""Names the store's address where ``connect`` is given none."""

_CLOSING_SECONDS = 10.0


def connect(
    url: str | None = None,
    *,
    agent: str = "agent",
    session: str | None = None,
    project: str = "",
    policy: Policy | None = None,
    timeout: Time = DEFAULT_TIMEOUT_SECONDS,
    patience: Time = DEFAULT_PATIENCE_SECONDS,
    requested_by: str | None = None,
    observe: Callable[[Event], None] | None = None,
    audit_rules: bool = False,
    folder: str | Folder | None = None,
    where: Where | Callable[[], Where | None] | None = here,
) -> ConnectedGate:
    """Connect a gate to the store at a URL, else to the one that SAYSO_STORE_URL names.

    Nothing is opened before its first use, so it may be a global of a module; what can be
    known to be wrong without a connection is an error at once. ``agent``
    and ``session`` are those of calls that name no run; without a session, no Always is
    kept beyond a run. ``project`` names what the agent works on: an Always can be
    stored for all of its sessions that name it. ``where`` is what cards say of where it works: this
    host, folder, repository and branch, unless it is another place or None. The rest is
    as for ``sayso.Gate.open``; ``policy`` and ``observe`` are called in the gate's thread.

    Raises:
        ConfigError: no store is named, or none that there could be; or as for ``sayso.Gate.open``.
    """
    check_name("agent", agent, 'name the agent, such as "deploy-bot"')
    if session is not None:
        check_name("session", session, "leave it out, or name the conversation")
    try:
        run = RunRef(
            agent_id=agent,
            session_id=session or new_id(),
            project=project,
            is_named=bool(session),
        )
    except ValidationError as error:
        wrong = error.errors()[0]
        argument = re.split(r"_|Id", str(wrong["loc"][0]))[0]
        shown = f"{argument}={wrong['input']!r:.60}"
        raise ConfigError(f"{shown}: pass text in valid Unicode") from None
    options = GateOptions(
        run,
        policy,
        timeout,
        requested_by,
        observe=observe,
        audit_rules=audit_rules,
        patience=patience,
        folder=folder,
        where=where,
    )
    return ConnectedGate(Lifetime(_choose_url(url), options), options)


def _choose_url(url: str | None) -> str:
    named = url or os.environ.get(STORE_VARIABLE, "").strip()
    if not named:
        raise ConfigError(
            f"no store is named: pass its address to sayso.connect, or set {STORE_VARIABLE} "
            "(the same as that of the bots, such as redis://127.0.0.1:6379/0)"
        )
    try:
        check_url(named)
    except ConfigError as error:
        raise ConfigError(f"{'url' if url else STORE_VARIABLE}: {error}") from None
    return named


class ConnectedGate(Gate):
    """A gate for any event loop and any thread. Make one with ``sayso.connect``.

    It opens at its first use and closes when the process ends, or with ``close`` or at the
    end of a ``with`` block. Its work is done in a thread of its own, where the policy decides,
    too; callers only wait: under asyncio and trio without holding up their loop, and with
    ``sync`` in any thread without one. A process that was forked begins anew.

    Its methods do and raise what those of ``sayso.Gate`` do. Where nothing comes of one in time,
    because the thread is held up, a call has expired and anything else raises WaitTimeoutError;
    where the gate is closed, or closes meanwhile, a call was cancelled and anything else raises
    GateClosedError.
    """

    def __init__(self, lifetime: Lifetime, options: GateOptions) -> None:
        self.run = options.run
        self._options = options
        self._lifetime = lifetime
        self._take = lifetime.take
        self._wait: Wait = in_its_loop

    @property
    def sync(self) -> SyncGate:
        """The methods for code that is not async."""
        blocking = ConnectedGate(self._lifetime, self._options)
        blocking._take, blocking._wait = self._lifetime.take_from_elsewhere, in_this_thread
        return SyncGate(blocking, block_without_loop)

    def for_session(
        self, session: RunRef | str | int | None = None, *, run_id: str | None = None
    ) -> ConnectedGate:
        """Return the gate of another session or run; see ``sayso.Gate.for_session``."""
        run = self._options.choose_run(session, run_id)
        return ConnectedGate(self._lifetime, replace(self._options, run=run))

    def child(self, *path: str, source_name: str | None = None) -> ConnectedGate:
        """Return the gate of a sub-agent of the same run; see ``sayso.Gate.child``."""
        return ConnectedGate(self._lifetime, self._options.child(path, source_name))

    def before_iteration(self) -> None:
        """Begin a new iteration: no answer of the last one counts for a call made after this."""

        async def begin(gate: Gate) -> None:
            gate.before_iteration()

        self._begin(begin)

    def deny_call(self, call_id: str, *, reason: str = "") -> None:
        """Deny this call id in the run from now on; see ``sayso.Gate.deny_call``."""
        self._lifetime.check_open()
        super().deny_call(call_id, reason=reason)

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Refuse: events are observed in the loop of a gate that ``Gate.open`` gave."""
        raise GateClosedError.for_wrong_loop(
            "observe events with Gate.open, in the loop that reads"
        )

    @overload  # type: ignore[override]  # what comes back is what the function is
    def guard(
        self, function: Callable[_P, AsyncIterator[_T]]
    ) -> Callable[_P, AsyncIterator[_T | str]]: ...
    @overload
    def guard(
        self, function: Callable[_P, Coroutine[Any, Any, _T]]
    ) -> Callable[_P, Coroutine[Any, Any, _T | str]]: ...
    @overload
    def guard(self, function: Callable[_P, _T]) -> Callable[_P, _T | str]: ...
    @overload
    def guard(
        self, function: None = None, *, raises: bool = False
    ) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]: ...
    def guard(self, function: Any = None, *, raises: bool = False) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Make every call of a function pass this gate; see ``sayso.Gate.guard``.

        What comes back is what the function is: async or not, a generator of either
        kind, a method. It keeps its name, its docstring and its signature. One that is
        not async blocks its thread while a person is asked.
        """
        if function is None:
            return partial(self.guard, raises=raises)
        return guarded_alike(self.check, self.sync.check, function, raises=raises)

    def tools(
        self, tools: Mapping[str, Tool] | Iterable[Tool], *, raises: bool = False
    ) -> dict[str, Callable[..., Any]]:
        """Return the tools by name, each behind ``guard``.

        Raises:
            ConfigError: a tool has no name, is guarded already, or two have one name.
        """
        at_once = self.sync.check
        return {
            name: guarded_alike(self.check, at_once, tool, raises=raises, name=name)
            for name, tool in named(tools)
        }

    def close(self) -> None:
        """Withdraw what is still asked, and end, within seconds; whoever waits is told.

        It cannot be used again, nor can the gates of its sessions and children.
        """
        thread = self._lifetime.close()
        if thread is not None and not thread.is_here:
            thread.join(_CLOSING_SECONDS)

    async def aclose(self) -> None:
        """Close, without holding up the event loop."""
        thread = self._lifetime.close()
        if thread is not None:
            await in_its_loop(thread.ended, _CLOSING_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _begin(self, work: Work[_T]) -> Job[_T]:
        options = self._options
        return self._take(Asker(options.run, options.path, options.source_name), work)

    async def _do(self, work: Work[_T], countdown: Countdown) -> _T:
        """Do work in the thread; give it up when its caller is cancelled, or its time is over."""
        outcome = self._begin(work).outcome
        try:
            await self._wait(outcome, countdown.patience)
        finally:
            # What is done cannot be cancelled; whoever left before does not wait for it any more.
            gave_up = outcome.cancel()
        if gave_up:
            raise WaitTimeoutError(
                f"the gate's thread is held up, and nothing came of it in {countdown.seconds:g} s"
            )
        return outcome.result()

    def _count_down(self, timeout: Timeout | CallTime) -> Countdown:
        if isinstance(timeout, CallTime):
            return Countdown(timedelta(seconds=max(timeout.left, 0.001)))
        return Countdown(self._options.timeout if timeout is None else timeout)


def _call_in_thread(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Override a method that asks: its time runs from the call on, also in a busy thread."""

    name = _name_first(method)

    @functools.wraps(method)
    async def call(self: ConnectedGate, *args: Any, **how: Any) -> Any:
        countdown = self._count_down(how.pop("timeout", None))
        snapshot = _take_snapshot(_take_first(name, args, how))

        async def work(gate: Gate) -> Any:
            return await method(gate, snapshot, *args[1:], **how, timeout=countdown.there)

        return await self._do(work, countdown)

    return call


def _check_in_thread(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Override a method that checks one call or several: failures are verdicts."""
    call_in_thread, name = _call_in_thread(method), _name_first(method)

    @functools.wraps(method)
    async def check(self: ConnectedGate, *args: Any, **how: Any) -> Any:
        asked = _take_first(name, args, how)
        countdown, snapshot = self._count_down(how.get("timeout")), _take_snapshot(asked)
        try:
            results = await call_in_thread(self, snapshot, *args[1:], **how)
        except WaitTimeoutError:
            return _for_each(snapshot, lambda call: out_of_time(call, countdown.seconds))
        except GateClosedError as error:
            if error.is_wrong_loop:
                raise
            why = str(error)
            return _for_each(snapshot, lambda call: given_up(call, why))
        handed, calls = ([asked], [snapshot]) if isinstance(asked, ToolCall) else (asked, snapshot)
        checked = results if isinstance(results, list) else [results]
        for number, (was, call) in enumerate(zip(handed, calls, strict=True)):
            if checked[number].approved:
                refuse_changed(was, call)
                if call.call_id in self._options.denied:  # on the way from the thread
                    checked[number] = await self.check(call)
        return checked if isinstance(results, list) else checked[0]

    return check


def _wait_in_thread(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Override a method that waits for what was asked before, without a limit unless told."""

    @functools.wraps(method)
    async def wait(self: ConnectedGate, *args: Any, timeout: Timeout = None, **how: Any) -> Any:
        countdown = Countdown(timeout)

        async def work(gate: Gate) -> Any:
            return await method(gate, *args, **how, timeout=countdown.rest)

        return await self._do(work, countdown)

    return wait


def _act_in_thread(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Override a method that takes as long as the store may be away, twice: to read and to end."""

    @functools.wraps(method)
    async def act(self: ConnectedGate, *args: Any, **how: Any) -> Any:
        countdown = Countdown(2 * in_seconds(self._options.patience))
        return await self._do(lambda gate: method(gate, *args, **how), countdown)

    return act


def _name_first(method: Callable[..., Any]) -> str:
    """Return the name of the first argument, which may be given by it."""
    return list(inspect.signature(method).parameters)[1]


def _take_first(name: str, args: tuple[Any, ...], how: dict[str, Any]) -> Any:
    """Return the first argument, which may be given by its name.

    Raises:
        TypeError: it is not given.
    """
    if not args and name not in how:
        raise TypeError(f"missing 1 required argument: {name!r}")
    return args[0] if args else how.pop(name)


def _take_snapshot(asked: Any) -> Any:
    if isinstance(asked, ToolCall):
        return taken(asked)
    if isinstance(asked, list | tuple):
        return [taken(one) for one in asked]
    return asked


def _for_each(calls: Any, make: Callable[[ToolCall], Any]) -> Any:
    return make(calls) if isinstance(calls, ToolCall) else [make(call) for call in calls]


for _override, _names in {
    _check_in_thread: ("check", "before_function", "check_batch", "before_batch"),
    _call_in_thread: ("submit", "submit_batch", "ask"),
    _wait_in_thread: ("resume", "resume_batch", "wait_for_response"),
    _act_in_thread: ("cancel", "cancel_all", "emit"),
}.items():
    for _name in _names:
        setattr(ConnectedGate, _name, _override(getattr(Gate, _name)))
