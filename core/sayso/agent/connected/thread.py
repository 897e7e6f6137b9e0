"""The thread of a connected gate: one event loop in it, one store, and the gates on that store."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # its pools are waited for at exit: after our threads, see below
import os
import sys
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import AsyncExitStack, suppress
from typing import Any, Generic, TypeAlias, TypeVar
from weakref import WeakSet

from sayso.agent.connected.gates import Asker, Gates
from sayso.agent.gate import Gate
from sayso.agent.options import GateOptions
from sayso.errors import GateClosedError
from sayso.stores.connect import open_store

_T = TypeVar("_T")


class Job(Generic[_T]):
    """Work that is begun in the loop of the thread; its ``outcome`` is told, come what may.

    Cancel the outcome from anywhere, and the work is cancelled. All else happens in
    the thread.
    """

    def __init__(
        self, work: Callable[[], Coroutine[Any, Any, _T]], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.outcome: Future[_T] = Future()
        self._work = work
        self._loop = loop
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Do the work, unless nobody waits for it any more."""
        if not self.outcome.done():
            self._task = asyncio.create_task(self._do())
            self.outcome.add_done_callback(self._given_up)

    def fail(self, error: BaseException) -> None:
        """Tell whoever still waits that nothing will come of it."""
        if self._is_waited_for():
            self.outcome.set_exception(error)

    async def stop(self) -> None:
        """Cancel the work, and return when it has ended."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _do(self) -> None:
        try:
            result = await self._work()
        except asyncio.CancelledError:
            # Ours has told its outcome before; whoever waits must not take this for its own.
            self.fail(RuntimeError("the work was cancelled from within: nothing was approved"))
            raise
        except Exception as error:
            self.fail(error)
        except BaseException as error:
            # A policy may end this thread as little as the loop of whoever waits.
            ended = RuntimeError(f"{type(error).__name__} was raised: nothing was approved")
            ended.__cause__ = error
            self.fail(ended)
        else:
            if self._is_waited_for():
                self.outcome.set_result(result)

    def _is_waited_for(self) -> bool:
        return not self.outcome.done() and self.outcome.set_running_or_notify_cancel()

    def _given_up(self, outcome: Future[_T]) -> None:
        if outcome.cancelled() and self._task is not None:
            with suppress(RuntimeError):  # the loop is closed, and so the task has ended
                self._loop.call_soon_threadsafe(self._task.cancel)


Wait: TypeAlias = Callable[["Future[Any]", float], Awaitable[None]]
"""Returns when the future is done, or so many seconds are over."""


async def in_its_loop(outcome: Future[Any], seconds: float) -> None:
    """Wait in the event loop of the caller, asyncio's or trio's, and let it do other things."""
    if _is_in_asyncio():
        await _in_asyncio(outcome, seconds)
    elif (trio := sys.modules.get("trio")) is not None and trio.lowlevel.in_trio_run():
        await _in_trio(trio, outcome, seconds)
    else:
        raise GateClosedError.for_wrong_loop(
            "a connected gate is awaited in an event loop of asyncio or trio: elsewhere, call "
            "its `sync`"
        )


async def in_this_thread(outcome: Future[Any], seconds: float) -> None:
    """Wait, and let the thread stand still."""
    wait([outcome], timeout=seconds)


def _is_in_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


async def _in_asyncio(outcome: Future[Any], seconds: float) -> None:
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    # Not held from here: a caller whose loop was closed is collected, and gives up.
    caller = weakref.ref(done)

    def wake() -> None:
        if (waiting := caller()) is not None and not waiting.done():
            waiting.set_result(None)

    def told(_: Future[Any]) -> None:
        with suppress(RuntimeError):  # the caller's loop was closed while it waited
            loop.call_soon_threadsafe(wake)

    outcome.add_done_callback(told)
    await asyncio.wait([done], timeout=seconds)


async def _in_trio(trio: Any, outcome: Future[Any], seconds: float) -> None:
    token, done = trio.lowlevel.current_trio_token(), trio.Event()

    def told(_: Future[Any]) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(done.set)

    outcome.add_done_callback(told)
    with trio.move_on_after(seconds):
        await done.wait()


# When the interpreter ends, what is still asked is withdrawn; whoever is slow is left behind.
_LEAVING_SECONDS = 3.0

Work = Callable[[Gate], Coroutine[Any, Any, _T]]


class GateThread:
    """Does work for any thread, from its first job until it is stopped.

    It ends by itself where the store cannot be opened: each job is told why.

    Raises:
        GateClosedError: the interpreter is ending.
    """

    def __init__(self, url: str, options: GateOptions) -> None:
        self._url = url
        self._options = options
        self._loop = asyncio.new_event_loop()
        self._gates: asyncio.Future[Gates] = self._loop.create_future()
        self._stopping = asyncio.Event()
        self._lock = threading.RLock()  # a gate may be dropped at any moment, in any thread
        self._jobs: set[Job[Any]] = set()
        self._is_over = False
        self.why_over: Exception = GateClosedError()
        self.ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._live, name="sayso", daemon=True)
        try:
            _alive.add(self)
            self._thread.start()
        except BaseException:
            self._loop.close()
            raise

    @property
    def is_here(self) -> bool:
        """True if this is called in the thread's own thread."""
        return threading.current_thread() is self._thread

    @property
    def is_over(self) -> bool:
        """True if it takes no more work."""
        return self._is_over

    def take(self, asker: Asker, work: Work[_T]) -> Job[_T] | None:
        """The work, with the gate of the run, as soon as the thread can; None when it is over."""

        async def with_gate() -> _T:
            gates = await asyncio.shield(self._gates)
            with gates.used(asker) as gate:
                return await work(gate)

        with self._lock:
            if self._is_over:
                return None
            job = Job(with_gate, self._loop)
            self._jobs.add(job)
            self._loop.call_soon_threadsafe(job.begin)
        job.outcome.add_done_callback(lambda _: self._jobs.discard(job))
        return job

    def stop(self) -> None:
        """Take no more work, and end: whoever waits is told at once."""
        with self._lock:
            if not self._is_over:
                self._is_over = True
                self._loop.call_soon_threadsafe(self._stopping.set)

    def join(self, seconds: float) -> None:
        """Return when it has ended, or after so many seconds."""
        concurrent.futures.wait([self.ended], timeout=seconds)

    def _live(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._work())
        finally:
            self._end(GateClosedError())
            self.ended.set_result(None)

    async def _work(self) -> None:
        async with AsyncExitStack() as stack:
            try:
                backend = await stack.enter_async_context(open_store(self._url))
            except Exception as error:
                self.why_over = error
                self._end(error)
                self._gates.cancel()
                return
            gates = Gates(backend, self._options)
            self._gates.set_result(gates)
            try:
                await self._stopping.wait()
            finally:
                jobs = self._end(GateClosedError())
                await asyncio.gather(*(job.stop() for job in jobs))
                await gates.finish()

    def _end(self, error: Exception) -> list[Job[Any]]:
        """Take no more work; what was not done by now, and whose callers are told why."""
        with self._lock:
            self._is_over = True
            left = list(self._jobs)
        for job in left:
            job.fail(error)
        return left


class _Alive:
    """The threads of this process, which ends without waiting for them for long."""

    def __init__(self) -> None:
        self._threads: WeakSet[GateThread] = WeakSet()
        self._is_leaving = False

    def add(self, thread: GateThread) -> None:
        """Stop it, too, when the interpreter ends.

        Raises:
            GateClosedError: it is ending.
        """
        if self._is_leaving:
            raise GateClosedError
        self._threads.add(thread)

    def leave(self) -> None:
        """Stop all of them: what is still asked is withdrawn."""
        self._is_leaving = True
        threads = [thread for thread in self._threads if not thread.is_over]
        for thread in threads:
            thread.stop()
        ends_at = time.monotonic() + _LEAVING_SECONDS
        for thread in threads:
            thread.join(max(ends_at - time.monotonic(), 0.0))

    def forget(self) -> None:
        """This process was forked: those are the parent's, and so are their connections."""
        self._threads = WeakSet()


_alive = _Alive()

# Before the interpreter waits for threads that wait for an answer, those of pools among them:
# whoever is registered last is called first. `atexit` would be too late.
_at_exit: Callable[[Callable[[], None]], object] = getattr(
    threading, "_register_atexit", atexit.register
)
_at_exit(_alive.leave)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alive.forget)


class Lifetime:
    """The thread of a connected gate and of all gates that it gave: begun when it is needed."""

    def __init__(self, url: str, options: GateOptions) -> None:
        self._url = url
        self._options = options
        self._lock = threading.RLock()
        self._thread: GateThread | None = None
        self._is_closed = False
        _lifetimes.add(self)

    def check_open(self) -> None:
        """Find out whether it takes work.

        Raises:
            GateClosedError: it does not.
        """
        if self._is_closed:
            raise GateClosedError

    def take(self, asker: Asker, work: Work[_T]) -> Job[_T]:
        """Hand work to the thread.

        Raises:
            GateClosedError: it takes no more work.
        """
        with self._lock:
            self.check_open()
            job = None if self._thread is None else self._thread.take(asker, work)
            if job is None:
                self._thread = self._begin()
                job = self._thread.take(asker, work)
                if job is None:
                    raise self._thread.why_over
        return job

    def take_from_elsewhere(self, asker: Asker, work: Work[_T]) -> Job[_T]:
        """Hand work to the thread from another one.

        Raises:
            GateClosedError: this is the thread itself, or it takes no more work.
        """
        thread = self._thread
        if thread is not None and thread.is_here:
            raise GateClosedError.for_wrong_loop(
                "this is the gate's own thread, where policies decide: what blocks it would "
                "wait for itself; await the gate's method of this name instead of its `sync`"
            )
        return self.take(asker, work)

    def close(self) -> GateThread | None:
        """Take no more work; the thread that ends."""
        with self._lock:
            self._is_closed = True
            if self._thread is not None:
                self._thread.stop()
            return self._thread

    def begin_anew(self) -> None:
        """Forget the thread: this process was forked, and it is in the parent."""
        self._lock = threading.RLock()
        self._thread = None

    def _begin(self) -> GateThread:
        thread = GateThread(self._url, self._options)
        # A gate that nobody holds any more asks nothing: its thread ends with it.
        weakref.finalize(self, thread.stop).atexit = False
        return thread


_lifetimes: weakref.WeakSet[Lifetime] = weakref.WeakSet()


def _begin_anew_after_fork() -> None:
    for lifetime in list(_lifetimes):
        lifetime.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_after_fork)
