"""The tests in several processes, each a copy of the one that has collected them.

What every process would do again is done once: loading what the tests import, and collecting
them. A copy has the tests of one file after the other, whichever is next, so that what the tests
of a file share is made once.
"""

from __future__ import annotations

import atexit
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import UnsupportedOperation
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryFile
from typing import Any, cast

import pytest
from _pytest.config import create_terminal_writer

# These have their say where all tests are heard of, and nowhere else.
_OF_THE_WHOLE = ("terminalreporter", "lfplugin", "nfplugin", "stepwiseplugin", "junitxml")
# How long copies that are told to stop may take to put away what their tests share.
_PATIENCE_SECONDS = 20.0


@dataclass
class _Copy:
    """A process that runs tests, as the one that hears of them knows it."""

    pid: int
    pipe: Connection
    at: int | None = None
    """Which test it began last."""
    given: range | None = None
    """The file that it goes on with."""
    done: bool = False
    said: str = ""
    """Why it ended before it was done."""

    def told_to_stop(self) -> None:
        if not self.pipe.closed:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)

    def ended(self) -> int:
        """Its exit code, when it has closed its end of the pipe."""
        self.pipe.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class SideBySide:
    """Runs what was collected in so many processes."""

    def __init__(self, copies: int) -> None:
        self._copies = copies

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None
        files = deque(_files(session.items))
        _temporary_files(session.config).getbasetemp()
        copies: list[_Copy] = []
        try:
            for number in range(min(self._copies, len(files))):
                copies.append(_a_copy(session, number, copies))
            _hear(session, copies, files)
        finally:
            _end(copies)
        return True


def _files(items: list[pytest.Item]) -> Iterator[range]:
    """The tests of each file, by their place among all."""
    for _, found in groupby(range(len(items)), key=lambda at: items[at].path):
        places = list(found)
        yield range(places[0], places[-1] + 1)


def _a_copy(session: pytest.Session, number: int, others: list[_Copy]) -> _Copy:
    here, there = Pipe()
    session.config.get_terminal_writer().flush()
    if pid := os.fork():
        there.close()
        return _Copy(pid, here)
    code = 1
    try:
        here.close()
        for one in others:
            one.pipe.close()
        _have_of_ones_own(session.config, number)
        _run(session, there)
        code = 0
    except BaseException:
        with suppress(OSError):
            there.send(("ends", traceback.format_exc()))
    finally:
        there.close()
        atexit._run_exitfuncs()  # or what a test started for its whole process would stay
        os._exit(code)


def _hear(session: pytest.Session, copies: list[_Copy], files: deque[range]) -> None:
    """Give out the files, and pass on what is told of their tests, until all copies have ended."""
    working = {one.pipe: one for one in copies}
    while working:
        for ready in wait(working):
            one = working[cast("Connection", ready)]
            try:
                what, told = one.pipe.recv()
            except (EOFError, ConnectionResetError):
                del working[one.pipe]
                code = one.ended()
                if not one.done:
                    _report(session, _cut_short(session, one, code))
                    files.extendleft([one.given] if one.given else [])
                continue
            if what == "next":
                one.given = files.popleft() if files else None
                one.pipe.send(one.given)
            else:
                _pass_on(session, one, what, told)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    if files:
        session.shouldfail = "the processes that run tests have ended before all tests were run"
        raise session.Failed(session.shouldfail)


def _pass_on(session: pytest.Session, one: _Copy, what: str, told: Any) -> None:
    hook = session.config.hook
    if what == "at":
        one.at = told
        one.given = None if one.given and told in one.given else one.given
    elif what == "report":
        made = hook.pytest_report_from_serializable(config=session.config, data=told)
        _report(session, made)
    elif what == "warning":
        hook.pytest_warning_recorded.call_historic(kwargs=told)
    elif what == "stops":
        session.shouldstop = told
    elif what == "ends":
        one.said = told
    else:
        one.done = True


def _report(session: pytest.Session, report: pytest.TestReport) -> None:
    session.config.hook.pytest_runtest_logreport(report=report)


def _cut_short(session: pytest.Session, one: _Copy, code: int) -> pytest.TestReport:
    item = session.items[one.at or 0]
    said = f"The process that ran this test ended with {code}; what came after it was not run."
    whole = f"{said}\n\n{one.said}"
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", whole, "call")


def _end(copies: list[_Copy]) -> None:
    """Nobody is left, and what their tests shared is put away."""
    for one in copies:
        one.told_to_stop()
    until = time.monotonic() + _PATIENCE_SECONDS
    for one in copies:
        with suppress(EOFError, ConnectionResetError):
            while not one.pipe.closed and one.pipe.poll(max(0.0, until - time.monotonic())):
                one.pipe.recv()
        if not one.pipe.closed:
            os.kill(one.pid, signal.SIGKILL)
            one.ended()


def _have_of_ones_own(config: pytest.Config, number: int) -> None:
    """What copies must not share: captured output, temporary files, randomness."""
    for name in _OF_THE_WHOLE:
        config.pluginmanager.unregister(name=name)
    _capture_alone(config)
    # Who asks for the terminal, to say where a test hangs, writes to what is captured.
    config.pluginmanager.register(_Captured(config), "terminalreporter")
    config.option.basetemp = str(_temporary_files(config).getbasetemp() / f"copy-{number}")
    own = pytest.TempPathFactory.from_config(config, _ispytest=True)
    config._tmp_path_factory = own  # type: ignore[attr-defined]
    random.seed()


def _capture_alone(config: pytest.Config) -> None:
    """Let what is captured go to files of its own, behind the streams that modules know by now."""
    manager = config.pluginmanager.getplugin("capturemanager")
    capturing: Any = getattr(manager, "_global_capturing", None)
    for stream in (capturing.out, capturing.err) if capturing else ():
        with suppress(AttributeError, UnsupportedOperation), TemporaryFile() as own:
            os.dup2(own.fileno(), stream.tmpfile.fileno(), inheritable=False)


def _temporary_files(config: pytest.Config) -> pytest.TempPathFactory:
    # This is where the fixtures find it; it has no other door.
    return cast("pytest.TempPathFactory", config._tmp_path_factory)  # type: ignore[attr-defined]


def _run(session: pytest.Session, pipe: Connection) -> None:
    """What a copy does: it runs files as long as there are any, and tells of each test."""
    config, items = session.config, session.items
    config.pluginmanager.register(_Telling(config, pipe))
    try:
        for at, following in _places(pipe):
            pipe.send(("at", at))
            after = None if following is None else items[following]
            config.hook.pytest_runtest_protocol(item=items[at], nextitem=after)
            if session.shouldfail or session.shouldstop:
                pipe.send(("stops", str(session.shouldfail or session.shouldstop)))
                break
    finally:
        config.hook.pytest_sessionfinish(session=session, exitstatus=pytest.ExitCode.OK)
    pipe.send(("done", None))


def _places(pipe: Connection) -> Iterator[tuple[int, int | None]]:
    """Which test is next, and which comes after it: what that does not need is put away."""
    file = _next_file(pipe)
    while file:
        yield from ((at, at + 1) for at in file[:-1])
        following = _next_file(pipe)
        yield file[-1], following[0] if following else None
        file = following


def _next_file(pipe: Connection) -> range | None:
    pipe.send(("next", None))
    given: range | None = pipe.recv()
    return given


class _Captured:
    """In place of the terminal."""

    def __init__(self, config: pytest.Config) -> None:
        self._tw = create_terminal_writer(config, sys.stderr)


class _Telling:
    """Tells the process that hears of all tests what happens here."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self._config = config
        self._pipe = pipe

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._pipe.send(("report", data))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: object
    ) -> None:
        """What was warned of before there were copies is told here again, and not passed on."""
        if when != "runtest":
            return
        found = warning_message
        text = f"{found.category.__name__}: {found.message}"
        said = warnings.WarningMessage(text, UserWarning, found.filename, found.lineno)
        where = {"when": when, "nodeid": nodeid, "location": location}
        self._pipe.send(("warning", {"warning_message": said, **where}))
