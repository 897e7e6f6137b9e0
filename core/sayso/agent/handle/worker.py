"""The thread of a handle: one event loop, and in it one backend with all its gates."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # its pools are waited for at exit: after our threads, see below
import os
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar
from weakref import WeakSet

from sayso.agent.gate import Gate
from sayso.agent.handle.gates import Gates
from sayso.agent.handle.jobs import Job
from sayso.agent.options import GateOptions
from sayso.calls import RunRef
from sayso.errors import GateClosedError
from sayso.stores.connect import open_store

_T = TypeVar("_T")

# When the interpreter ends, what is still asked is withdrawn; whoever is slow is left behind.
_LEAVING_SECONDS = 3.0

Work = Callable[[Gate], Coroutine[Any, Any, _T]]


class Worker:
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
        self._lock = threading.RLock()  # a handle may be dropped at any moment, in any thread
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
        """Whether this is called in the worker's own thread."""
        return threading.current_thread() is self._thread

    @property
    def is_over(self) -> bool:
        """Whether it takes no more work."""
        return self._is_over

    def take(self, run: RunRef, work: Work[_T]) -> Job[_T] | None:
        """The work, with the gate of the run, as soon as the thread can; None when it is over."""

        async def with_gate() -> _T:
            gates = await asyncio.shield(self._gates)
            with gates.used(run) as gate:
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
    """The workers of this process, which ends without waiting for them for long."""

    def __init__(self) -> None:
        self._workers: WeakSet[Worker] = WeakSet()
        self._is_leaving = False

    def add(self, worker: Worker) -> None:
        """Stop it, too, when the interpreter ends.

        Raises:
            GateClosedError: it is ending.
        """
        if self._is_leaving:
            raise GateClosedError
        self._workers.add(worker)

    def leave(self) -> None:
        """Stop all of them: what is still asked is withdrawn."""
        self._is_leaving = True
        workers = [worker for worker in self._workers if not worker.is_over]
        for worker in workers:
            worker.stop()
        ends_at = time.monotonic() + _LEAVING_SECONDS
        for worker in workers:
            worker.join(max(ends_at - time.monotonic(), 0.0))

    def forget(self) -> None:
        """This process was forked: those are the parent's, and so are their connections."""
        self._workers = WeakSet()


_alive = _Alive()

# Before the interpreter waits for threads that wait for an answer, those of pools among them:
# whoever is registered last is called first. `atexit` would be too late.
_at_exit: Callable[[Callable[[], None]], object] = getattr(
    threading, "_register_atexit", atexit.register
)
_at_exit(_alive.leave)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alive.forget)
