"""The handle: one a process, for every loop and every thread."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, Self, TypeVar, overload

from pydantic import ValidationError

from sayso.agent.handle.jobs import Job
from sayso.agent.handle.methods import Methods, Run, Work
from sayso.agent.handle.sync import SyncHandle
from sayso.agent.handle.waits import in_its_loop, in_this_thread
from sayso.agent.handle.worker import Worker
from sayso.agent.options import GateOptions, check_name
from sayso.agent.place import here
from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS, DEFAULT_TIMEOUT_SECONDS, Time
from sayso.agent.tools.guard import guarded_alike
from sayso.agent.tools.wrap import Tool, named
from sayso.calls import Folder, RunRef, new_id, read_session_id
from sayso.errors import ConfigError, GateClosedError
from sayso.events import Event
from sayso.policy.decision import Policy
from sayso.stores.connect import check_url
from sayso.where import Where

_P = ParamSpec("_P")
_T = TypeVar("_T")

STORE_VARIABLE = "SAYSO_STORE_URL"
"""Where the address of the store stands when ``connect`` is given none."""


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
) -> Handle:
    """A handle on the store at a URL, else on the one that SAYSO_STORE_URL names.

    Nothing is opened before its first use, so it may be a global of a module; what can be
    known to be wrong without a connection is an error at once. ``agent``
    and ``session`` are those of calls that name no run; without a session, no Always is
    kept beyond a run. ``project`` names what the agent works on: an Always can be
    stored for all of its sessions that name it. ``where`` is what cards say of where it works: this
    host, folder, repository and branch, unless it is another place or None. The rest is
    as for ``sayso.Gate.open``; ``policy`` and ``observe`` are called in the handle's thread.

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
    return Handle(_choose_url(url), options, session)


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


class Handle(Methods):
    """Asks people, from any event loop and any thread. Make one with ``sayso.connect``.

    It opens at its first use and closes when the process ends, or with ``close`` or at the
    end of a ``with`` block. Its work is done in a thread of its own, where the
    policy decides, too; callers only wait: under asyncio and trio without holding up their loop,
    and with ``sync`` in any thread without one. A process that was forked begins anew.
    ``session`` is the one it was connected with; None where that named none.
    """

    def __init__(self, url: str, options: GateOptions, session: str | None = None) -> None:
        super().__init__(self._take, in_its_loop, options)
        self.session = session
        self._url = url
        self._options = options
        self._lock = threading.RLock()
        self._worker: Worker | None = None
        self._is_closed = False
        self.sync = SyncHandle(Methods(self._take_from_elsewhere, in_this_thread, options))
        _handles.add(self)

    def run(self, session: str | int | None = None, *, run_id: str | None = None) -> RunRef:
        """Return the run of the handle's agent in a session, else in the one of ``connect``.

        Where neither names one, the run is a session of its own, and what people store for
        it ends with it; without a ``run_id``, nothing can be stored for it.

        Raises:
            InvalidCallError: the session is no string or int, is empty, or too long.
        """
        own = self._options.run
        run = own if run_id is None else replace(own, run_id=run_id)
        if session is not None:
            return replace(run, session_id=read_session_id(session), is_named=True)
        return run if own.is_named or not run_id else replace(run, session_id=run_id)

    @overload
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
        self, function: None = None, *, raises: bool = False, run: Run = None
    ) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]: ...
    def guard(self, function: Any = None, *, raises: bool = False, run: Run = None) -> Any:
        """Make every call of a function pass this handle: as ``sayso.Gate.guard``.

        What comes back is what the function is: async or not, a generator of either
        kind, a method. It keeps its name, its docstring and its signature. One that is
        not async blocks its thread while a person is asked.
        """
        if function is None:
            return partial(self.guard, raises=raises, run=run)
        check = partial(self.check, run=run)
        return guarded_alike(check, partial(self.sync.check, run=run), function, raises=raises)

    def tools(
        self,
        tools: Mapping[str, Tool] | Iterable[Tool],
        *,
        raises: bool = False,
        run: Run = None,
    ) -> dict[str, Callable[..., Any]]:
        """The tools by name, each behind ``guard``.

        Raises:
            ConfigError: a tool has no name, is guarded already, or two have one name.
        """
        check, at_once = partial(self.check, run=run), partial(self.sync.check, run=run)
        return {
            name: guarded_alike(check, at_once, tool, raises=raises, name=name)
            for name, tool in named(tools)
        }

    def close(self) -> None:
        """Withdraw what is still asked, and end, within seconds; whoever waits is told.

        It cannot be used again.
        """
        worker = self._closing()
        if worker is not None and not worker.is_here:
            worker.join(_CLOSING_SECONDS)

    async def aclose(self) -> None:
        """Close, without holding up the event loop."""
        worker = self._closing()
        if worker is not None:
            await in_its_loop(worker.ended, _CLOSING_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _closing(self) -> Worker | None:
        with self._lock:
            self._is_closed = True
            if self._worker is not None:
                self._worker.stop()
            return self._worker

    def _take(self, run: Run, work: Work[_T]) -> Job[_T]:
        ref = run if isinstance(run, RunRef) else self.run(run)
        with self._lock:
            if self._is_closed:
                raise GateClosedError
            job = None if self._worker is None else self._worker.take(ref, work)
            if job is None:
                self._worker = self._begun()
                job = self._worker.take(ref, work)
                if job is None:
                    raise self._worker.why_over
        return job

    def _take_from_elsewhere(self, run: Run, work: Work[_T]) -> Job[_T]:
        worker = self._worker
        if worker is not None and worker.is_here:
            raise GateClosedError.for_wrong_loop(
                "this is the handle's own thread, where policies decide: what blocks it would "
                "wait for itself; await the handle's method of this name instead of its `sync`"
            )
        return self._take(run, work)

    def _begun(self) -> Worker:
        worker = Worker(self._url, self._options)
        # A handle that nobody holds any more asks nothing: its thread ends with it.
        weakref.finalize(self, worker.stop).atexit = False
        return worker

    def begin_anew(self) -> None:
        """Forget the thread: this process was forked, and it is in the parent."""
        self._lock = threading.RLock()
        self._worker = None


_CLOSING_SECONDS = 10.0
_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


def _forked() -> None:
    for handle in list(_handles):
        handle.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
