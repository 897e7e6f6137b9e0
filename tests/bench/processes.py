"""Processes under test: on a core of their own, reached when they answer, and ended.

What is measured has the last core to itself; the load, the waiting runs, Redis and the chats share
the first. A process inherits the core of its parent, so each one is told its own.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from support.ports import free_port
from support.valkey_server import Valkey, end_with_parent

SAYSO = str(Path(sys.executable).with_name("sayso"))
_TESTS = Path(__file__).parents[1]
_CORES = sorted(os.sched_getaffinity(0))
_SETTINGS = """
[store]
url = "{store}"

[server]
host = "127.0.0.1"
port = {port}

[slack]
mode = "http"
team_id = "T0ACME"
app_id = "A0SAYSO"
api_url = "{chats}/api/"
per_channel = "off"

[telegram]
mode = "webhook"
api_url = "{chats}"
per_chat = "off"

[people.alice]
slack = "U0ALICE"
telegram = 4242

[[route]]
to = ["slack:C0OPS", "telegram:-1001234567890"]
approvers = ["alice"]
timeout = "1h"

[limits]
open_per_agent = "off"
open_per_token = "off"
"""


class NotQuietError(Exception):
    """The bots still work long after their last answer: nothing they did can be told apart."""


def take_load_core() -> None:
    """Keep this process, and what it starts from now on, to the core of the load."""
    os.sched_setaffinity(0, {_CORES[0]})


def start_measured(
    words: Sequence[str], env: Mapping[str, str], log: Path = Path(os.devnull)
) -> subprocess.Popen[bytes]:
    """Start a process on the core that is not the load's; it ends with this one."""
    with log.open("ab") as output:
        return subprocess.Popen(
            words,
            cwd=_TESTS.parent,
            env={**os.environ, "PYTHONPATH": str(_TESTS), **env},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=partial(_settle_on, _CORES[-1]),
        )


def _settle_on(core: int) -> None:
    os.sched_setaffinity(0, {core})
    end_with_parent()


@dataclass(frozen=True)
class Server:
    """The bots of one side."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def cpu_seconds(self) -> float:
        """Its processor time until now, by the process's own clock (clock_getcpuclockid)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    async def reachable(self) -> None:
        """Return when it takes connections.

        Raises:
            RuntimeError: the process has ended.
        """
        while True:
            if (code := self.process.poll()) is not None:
                raise RuntimeError(f"it ended with {code}: {self.log.read_text()}")
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return

    async def quiet(self, *, share: float = 0.02, step: float = 0.2, most: float = 20.0) -> None:
        """Return when it has nothing left to do: what is done after an answer counts.

        Args:
            share: of a core, below which it is quiet.
            step: seconds between two looks.
            most: seconds to wait.

        Raises:
            NotQuietError: it has not become quiet within that time.
        """
        end, before = time.monotonic() + most, self.cpu_seconds
        while True:
            await asyncio.sleep(step)
            now = self.cpu_seconds
            used = (now - before) / step
            if used < share:
                return
            if time.monotonic() > end:
                raise NotQuietError(
                    f"the bots (process {self.process.pid}) still take {100 * used:.1f} % of a core"
                    f" {most:g} s after their last answer, quiet is below {100 * share:g} %:"
                    " run this on a machine with nothing else to do"
                )
            before = now


@dataclass
class World:
    """One Redis, and bots that all know the same secrets."""

    redis_path: str
    folder: Path
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    hook: str = field(default_factory=lambda: secrets.token_hex(16))
    servers: list[Server] = field(default_factory=list)

    def url(self, namespace: str) -> str:
        """Name a store of its own."""
        return f"unix://{self.redis_path}?namespace={namespace}"

    def start_sayso(self, store: str, chats: str, more: str = "") -> Server:
        """Start ``sayso serve`` as anybody does; the paces of the chats do not hold it back."""
        port = free_port()
        config = self.folder / f"sayso-{port}.toml"
        config.write_text(_SETTINGS.format(store=store, port=port, chats=chats) + more)
        return self._start(port, [SAYSO, "serve", "--config", str(config)])

    def start_everyday(self, chats: str) -> Server:
        """Start the bots as people write them."""
        port = free_port()
        words = [sys.executable, "-m", "bench.everyday", self.redis_path, str(port), chats]
        return self._start(port, words)

    def _start(self, port: int, words: Sequence[str]) -> Server:
        env = {
            "SLACK_BOT_TOKEN": "xoxb-bench",
            "SLACK_SIGNING_SECRET": self.secret,
            "TELEGRAM_BOT_TOKEN": "1:bench",
            "TELEGRAM_WEBHOOK_SECRET": self.hook,
        }
        log = self.folder / f"{port}.log"
        server = Server(port, start_measured(words, env, log), log)
        self.servers.append(server)
        return server


@contextmanager
def a_world() -> Iterator[World]:
    """Start a Redis; it and all that is started in the block end with it."""
    redis = Valkey(unixsocket="valkey.sock", unixsocketperm="700", password="")
    redis.start()
    with TemporaryDirectory(prefix="sayso-bench-") as folder:
        world = World(str(redis.folder / "valkey.sock"), Path(folder))
        try:
            yield world
        finally:
            for server in world.servers:
                server.process.terminate()
            for server in world.servers:
                server.process.wait()
            redis.close()
