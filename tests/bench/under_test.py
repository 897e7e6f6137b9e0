"""Processes under test: started on their own cores, reached when they answer, and ended."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.cores import cpu_seconds, start_measured
from bench.ours import secrets_of, settings_file
from support.ports import free_port

_SAYSO = Path(sys.executable).with_name("sayso")


@dataclass(frozen=True)
class Server:
    """One side: a process or several that share a store, a port each."""

    ports: tuple[int, ...]
    processes: tuple[subprocess.Popen[bytes], ...]
    log: Path

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all of them until now."""
        return sum(cpu_seconds(process.pid) for process in self.processes)


@dataclass
class UnderTest:
    """Starts processes that all know the same secrets."""

    redis_path: str
    folder: Path
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    hook: str = field(default_factory=lambda: secrets.token_hex(16))
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def url(self, namespace: str) -> str:
        """A store of its own on the same Valkey."""
        return f"unix://{self.redis_path}?namespace={namespace}"

    def start(self, kind: str, store: str, *, processes: int = 1, chats: int = 0) -> Server:
        """Start ``processes`` of a kind, each on a core and a port of its own."""
        ports = tuple(free_port() for _ in range(processes))
        return self._server(
            ports,
            [["-m", "bench.serve", kind, store, str(port), str(chats)] for port in ports],
        )

    def start_sayso(self, store: str, *, chats: int, processes: int = 1, more: str = "") -> Server:
        """Start ``sayso serve`` as anybody does, so many times."""
        ports = tuple(free_port() for _ in range(processes))
        files = [
            settings_file(self.folder, store=store, port=port, chats=chats, more=more)
            for port in ports
        ]
        words = [[str(_SAYSO), "serve", "--config", str(path)] for path in files]
        return self._server(ports, words)

    def _server(self, ports: tuple[int, ...], commands: list[list[str]]) -> Server:
        env = secrets_of(self.secret, self.hook)
        log = self.folder / f"{ports[0]}.log"
        processes = tuple(
            start_measured(words, number=number, env=env, log=log)
            for number, words in enumerate(commands)
        )
        self.started += processes
        return Server(ports, processes, log)


@contextmanager
def under_test(redis_path: str) -> Iterator[UnderTest]:
    """What is started in the block ends with it."""
    with TemporaryDirectory(prefix="sayso-bench-") as folder:
        found = UnderTest(redis_path, Path(folder))
        try:
            yield found
        finally:
            for process in found.started:
                process.terminate()
            for process in found.started:
                process.wait()


async def reachable(server: Server) -> None:
    """Return when all of its ports take connections.

    Raises:
        RuntimeError: a process has ended.
    """
    for port, process in zip(server.ports, server.processes, strict=True):
        while True:
            if process.poll() is not None:
                said = server.log.read_text()
                raise RuntimeError(f"it ended with {process.returncode}: {said}")
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                break
