"""Commands of ours that need no start: copies of a process that has loaded all they load.

Python and the packages of ``sayso serve`` take half a second of processor time or more to load,
and the tests start it hundreds of times. A copy is what a process of its own is: it has its own
memory, files, environment, folder and end, and signals reach it; only its words in the list of
processes are not its own. Tests of the start itself start ``sys.executable``.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from asyncio.base_subprocess import BaseSubprocessTransport
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

_PIPE, _DEVNULL = subprocess.PIPE, subprocess.DEVNULL
_Stream = int | IO[Any] | None

# What Python reads as it starts. A command with other such variables is started afresh.
_READ_AT_THE_START = ("PYTHON", "LANG", "LC_", "LD_", "TZ")
_LONGEST_END_SECONDS = 20.0


async def command(
    *words: str,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] = ".",
    stdin: _Stream = None,
    stdout: _Stream = None,
    stderr: _Stream = None,
) -> asyncio.subprocess.Process:
    """``python -P -m sayso_bots`` with these words, as ``create_subprocess_exec`` starts it."""
    streams: dict[str, Any] = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
    if _at_the_start(env) != _at_the_start(_own()):
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "sayso_bots", *words), env=env, cwd=cwd, **streams
        )
    loop = asyncio.get_running_loop()
    protocol = asyncio.subprocess.SubprocessStreamProtocol(limit=2**16, loop=loop)
    started = loop.create_future()
    transport = _Transport(
        loop, protocol, words, False, **streams, bufsize=0, waiter=started, env=env, cwd=cwd
    )
    await started
    return asyncio.subprocess.Process(transport, protocol, loop)


def _at_the_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: env[name] for name in env if name.startswith(_READ_AT_THE_START) and env[name]}


def _own() -> dict[str, str]:
    """What commands of tests have of our own environment: the code that the tests run on."""
    return {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}


@cache
def warm() -> socket.socket:
    """Where a process listens that becomes what it is asked to: one for all copies of this one."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with there:
        process = subprocess.Popen(
            (sys.executable, "-P", str(Path(__file__).with_name("warm.py")), str(there.fileno())),
            # It ends with the last who holds the other end of its stdin.
            stdin=_PIPE,
            stdout=_PIPE,
            env=_own(),
            pass_fds=(there.fileno(),),
        )
    assert process.stdout is not None
    process.stdout.close()
    atexit.register(_end, here, process, os.getpid())
    return here


def _end(here: socket.socket, process: subprocess.Popen[bytes], of: int) -> None:
    here.close()
    if os.getpid() == of:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(_LONGEST_END_SECONDS)


class _Transport(BaseSubprocessTransport):
    """What asyncio knows of a process, of one that is a copy."""

    def _start(
        self,
        args: Any,
        shell: bool,
        stdin: _Stream,
        stdout: _Stream,
        stderr: _Stream,
        bufsize: int,
        **kwargs: Any,
    ) -> None:
        self._copy = _Copy(args, (stdin, stdout, stderr), **kwargs)
        self._proc = cast("subprocess.Popen[bytes]", self._copy)
        self._loop.add_reader(self._copy.connection, self._ended)

    def _ended(self) -> None:
        self._loop.remove_reader(self._copy.connection)
        self._process_exited(self._copy.ended())


class _Copy:
    """A process that the warm one has become: what asyncio wants of ``subprocess.Popen``."""

    def __init__(
        self,
        words: Sequence[str],
        streams: Sequence[_Stream],
        env: Mapping[str, str],
        cwd: str | os.PathLike[str],
    ) -> None:
        self.returncode: int | None = None
        self._files: list[IO[bytes] | None] = []
        self.connection, there = socket.socketpair()
        with ExitStack() as theirs:
            theirs.enter_context(there)
            given: list[int] = []
            for number, stream in enumerate(streams):
                given.append(self._theirs(number, stream, given, theirs))
            socket.send_fds(warm(), [b"?"], [*given, there.fileno()])
        wanted = json.dumps((words, dict(env), str(Path(cwd).absolute())))
        self.connection.sendall(wanted.encode() + b"\n")
        self.pid = self._said()
        self.stdin, self.stdout, self.stderr = self._files

    def _theirs(self, number: int, stream: _Stream, given: Sequence[int], theirs: ExitStack) -> int:
        """The file of the command that this stream is, and ours at the other end of it if any."""
        ours: int | None = None
        if stream == _PIPE:
            ends = os.pipe()
            their, ours = ends if number == 0 else ends[::-1]
            theirs.callback(os.close, their)
        elif stream == _DEVNULL:
            their = os.open(os.devnull, os.O_RDWR)
            theirs.callback(os.close, their)
        elif stream == subprocess.STDOUT:
            their = given[1]
        elif stream is None:
            their = number
        else:
            their = stream if isinstance(stream, int) else stream.fileno()
        mode = "wb" if number == 0 else "rb"
        self._files.append(None if ours is None else os.fdopen(ours, mode, buffering=0))
        return their

    def _said(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            if not (more := self.connection.recv(1)):
                raise RuntimeError("the process that becomes commands has ended")
            line += more
        return int(line)

    def ended(self) -> int:
        """Its exit code, when the connection has more to say."""
        with self.connection:
            self.returncode = self._said()
        return self.returncode

    def poll(self) -> int | None:
        """The exit code, as far as it is known."""
        return self.returncode

    def send_signal(self, number: int) -> None:
        """A signal for it, if it runs."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)
