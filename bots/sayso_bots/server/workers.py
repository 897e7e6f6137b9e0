"""Several processes behind one port: a parent that accepts calls, starts its workers, ends them."""

from __future__ import annotations

import errno
import logging
import os
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from sayso_bots.server.handing import Handed, Wire, wires

_log = logging.getLogger(__name__)

STOPPING = "sayso: stopping; presses in flight are finished first"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
# A worker that served for so long is started again as if it had never failed.
_STEADY_SECONDS = 60.0
_ACCEPT_AT_ONCE = 64
_AGAIN_SECONDS = 0.02
_IDLE_SECONDS = 60.0
_KILLED = 130
_FULL = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


@dataclass(slots=True)
class Pauses:
    """How long a worker that ended is left alone: twice as long each time, unless it had served."""

    failures: int = 0

    def next(self, served_seconds: float) -> float:
        """The pause after one that served for so long."""
        if served_seconds >= _STEADY_SECONDS:
            self.failures = 0
        self.failures += 1
        return min(_FIRST_PAUSE * 2.0 ** min(self.failures - 1, 16), _LONGEST_PAUSE)


@dataclass(slots=True)
class _Place:
    """A place for a worker: who is there, or from when on the next one is started."""

    number: int
    pid: int = 0
    wire: Wire | None = None
    is_ready: bool = False
    since: float = 0.0
    due: float = 0.0
    pauses: Pauses = field(default_factory=Pauses)


class Parent:
    """Accepts connections and hands them to the workers in turn, to one that is ready if any is.

    The first worker starts alone: when it cannot serve, nobody can, and its
    exit code is the parent's. From then on a worker that ends is started again,
    after a pause that grows. SIGHUP goes to all of them. SIGTERM and Ctrl-C end
    all of them, each as it ends alone, and then the parent; a second one ends
    all at once. Workers whose parent is gone end by themselves.
    """

    def __init__(
        self, sockets: Sequence[socket.socket], url: str, count: int, say: Callable[[str], None]
    ) -> None:
        self._sockets = sockets
        self._url = url
        self._say = say
        self._places = [_Place(number) for number in range(1, count + 1)]
        self._selector = selectors.DefaultSelector()
        self._waiting: deque[socket.socket] = deque()
        self._listens = False
        self._full_until = 0.0
        self._turn = 0
        self._has_served = False
        self._stops = 0
        self._code = 0

    def run(self) -> int | Handed:
        """Supervise until the end, the exit code; in a worker's process, what it serves on."""
        with self._listening(), self._signals() as came:
            while True:
                for place in self._due():
                    if (worker := self._start(place)) is not None:
                        return worker
                if not any(place.pid for place in self._places) and self._stops:
                    return self._code
                self._listen(not self._stops and not self._waiting and not self._is_full())
                for key, _ in self._selector.select(self._patience()):
                    if key.fileobj is came:
                        self._heed(came.recv(4096))
                    elif isinstance(key.data, _Place):
                        self._hear(key.data)
                    elif isinstance(key.fileobj, socket.socket):
                        self._accept(key.fileobj)
                self._hand_out()

    def _due(self) -> Iterator[_Place]:
        """Where a worker is to be started now."""
        if self._stops:
            return
        now = time.monotonic()
        for place in self._places if self._has_served else self._places[:1]:
            if not place.pid and place.due <= now:
                yield place

    def _patience(self) -> float:
        if self._waiting or self._is_full():
            return _AGAIN_SECONDS
        if self._stops or not self._has_served:
            return _IDLE_SECONDS
        empty = [place.due for place in self._places if not place.pid]
        return max(0.0, min(empty) - time.monotonic()) if empty else _IDLE_SECONDS

    def _start(self, place: _Place) -> Handed | None:
        """Start a worker; None in the parent."""
        wire, theirs = wires()
        # A signal for the worker must not be read as one for the parent: they wait until the
        # worker is on its own, see ``_signals``.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        place.pid = os.fork()
        if place.pid == 0:
            self._forget()
            wire.control.close()
            # Ctrl-C reaches the parent alone, which ends its workers in order.
            os.setsid()
            return Handed(theirs, self._url, speaks=not self._has_served)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        theirs.close()
        place.wire, place.is_ready, place.since = wire, False, time.monotonic()
        self._selector.register(wire.control, selectors.EVENT_READ, place)
        return None

    def _forget(self) -> None:
        """Close what is the parent's, in a worker that was made from it."""
        self._selector.close()
        for other in self._places:
            if other.wire is not None:
                other.wire.control.close()
        for connection in self._waiting:
            connection.close()

    def _hear(self, place: _Place) -> None:
        said = None if place.wire is None else place.wire.heard()
        if said is None:
            self._unplug(place)  # its end is told by SIGCHLD
        elif said:
            place.is_ready = self._has_served = True
            self._tell_all()

    def _unplug(self, place: _Place) -> None:
        if place.wire is not None:
            self._selector.unregister(place.wire.control)
            place.wire.control.close()
        place.wire, place.is_ready = None, False

    def _tell_all(self) -> None:
        for place in self._places:
            self._tell(place)

    def _tell(self, place: _Place, connection: socket.socket | None = None) -> bool:
        """Whether the worker was told."""
        if place.wire is None:
            return False
        ready = sum(other.is_ready for other in self._places)
        try:
            return place.wire.tell(ready, len(self._places), connection)
        except OSError:
            return False  # it is gone, and its end is heard in a moment

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_ACCEPT_AT_ONCE):
            try:
                self._waiting.append(listening.accept()[0])
            except OSError as error:
                if error.errno in _FULL:
                    self._full_until = time.monotonic() + _AGAIN_SECONDS
                return  # else nobody is there any more

    def _is_full(self) -> bool:
        """Whether there was no room for another connection a moment ago."""
        return time.monotonic() < self._full_until

    def _listen(self, wanted: bool) -> None:
        """Hear of calls, or leave them in the sockets: whoever hears and takes none never rests."""
        if wanted == self._listens:
            return
        self._listens = wanted
        for listening in self._sockets:
            if wanted:
                self._selector.register(listening, selectors.EVENT_READ)
            else:
                self._selector.unregister(listening)

    def _hand_out(self) -> None:
        while self._waiting and self._hand(self._waiting[0]):
            self._waiting.popleft().close()

    def _hand(self, connection: socket.socket) -> bool:
        """Give the connection to the next worker that takes it."""
        self._turn += 1
        turns = [
            self._places[(self._turn + n) % len(self._places)] for n in range(len(self._places))
        ]
        turns.sort(key=lambda place: not place.is_ready)
        return any(self._tell(place, connection) for place in turns)

    def _heed(self, numbers: bytes) -> None:
        """Do what the signals say that came."""
        for number in numbers:
            if number == signal.SIGHUP:
                self._signal(signal.SIGHUP)
            elif number in (signal.SIGTERM, signal.SIGINT):
                self._stop()
        self._bury()

    def _stop(self) -> None:
        self._stops += 1
        if self._stops > 1:
            self._code = _KILLED
            self._signal(signal.SIGKILL)
            return
        if self._has_served:
            self._say(STOPPING)
        self._listen(False)
        for listening in self._sockets:
            listening.close()
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        for place in self._places:
            if place.pid:
                os.kill(place.pid, number)

    def _bury(self) -> None:
        """Take note of the workers that have ended."""
        for place in self._places:
            if not place.pid:
                continue
            pid, status = os.waitpid(place.pid, os.WNOHANG)
            if pid:
                self._ended(place, os.waitstatus_to_exitcode(status))

    def _ended(self, place: _Place, code: int) -> None:
        place.pid = 0
        self._unplug(place)
        self._tell_all()
        if self._stops and code == -signal.SIGTERM:
            code = 0  # it was told to end before it had begun
        code = code if code >= 0 else 128 - code
        if not self._has_served:
            self._stops = self._stops or 1
        if self._stops:
            self._code = self._code or code
            return
        now = time.monotonic()
        pause = place.pauses.next(now - place.since)
        place.due = now + pause
        _log.error(
            "worker %d of %d ended with %d; it is started again in %g s",
            place.number,
            len(self._places),
            code,
            pause,
        )

    @contextmanager
    def _listening(self) -> Iterator[None]:
        for listening in self._sockets:
            listening.setblocking(False)
        try:
            yield
        finally:
            self._forget()

    @contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """Where the numbers of signals are read; as it was before, afterwards and in a worker."""
        came, told = socket.socketpair()
        came.setblocking(False)
        told.setblocking(False)
        before = {number: signal.signal(number, _noted) for number in _SIGNALS}
        previous = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        self._selector.register(came, selectors.EVENT_READ)
        try:
            yield came
        finally:
            signal.set_wakeup_fd(previous)
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            came.close()
            told.close()


def _noted(number: int, frame: FrameType | None) -> None:
    """A signal came: its number is in the socket, where it is read."""
