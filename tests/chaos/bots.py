"""``sayso serve`` in processes that are killed, stopped and started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from support.commands import WEBHOOK_SECRET, env_of
from support.ports import free_port

from sayso.testing import until
from sayso_bots.config.api_tokens import hash_token
from sayso_playground import Playground

API_TOKEN = f"sayso_{'chaos':x<43}"
REVIEWER_TOKEN = f"sayso_{'reviewer':x<43}"
_SETTINGS = f"""
[people.alice]
slack = "U0ALICE"
telegram = 4242

[people.bob]
slack = "U0BOB"
telegram = 4343

[[route]]
to = ["slack:C0OPS", "telegram:-1001234567890"]
approvers = ["alice", "bob", "api:reviewer"]

[questions]
reasons = ["Too risky"]
reason_wait = "2s"
together = "200ms"

[limits]
open_per_agent = "off"
open_per_token = "off"

[api]
per_second = 1000

[[api.token]]
name = "chaos"
sha256 = "{hash_token(API_TOKEN)}"
agents = ["*"]

[[api.token]]
name = "reviewer"
sha256 = "{hash_token(REVIEWER_TOKEN)}"
agents = ["*"]
"""
# More than real chats take: in a play of a minute nobody could press anything otherwise.
_PACES = """
per_channel = "20/s"

[telegram]
per_chat = "off"
"""
_WEBHOOKS = f"[slack]{_PACES}"
_SOCKETS = f"""[slack]
mode = "socket"{_PACES}mode = "polling"
"""


@dataclass(frozen=True)
class BotsConfig:
    """How the bots are started: where the store and the platforms are."""

    store_url: str
    playground: Playground
    folder: Path
    sockets: bool

    @property
    def settings(self) -> Path:
        """The settings file of all of them."""
        path = self.folder / "sayso.toml"
        path.write_text(_SETTINGS + (_SOCKETS if self.sockets else _WEBHOOKS))
        return path

    def environment(self, port: int) -> dict[str, str]:
        """That of a process on a port."""
        of_playground = env_of(self.playground, SAYSO_PORT=str(port))
        if self.sockets:
            of_playground["SLACK_APP_TOKEN"] = self.playground.config.slack_app_token
            del of_playground["TELEGRAM_WEBHOOK_SECRET"]
        path = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "USER": "chaos"}
        return {**path, **of_playground, "SAYSO_STORE_URL": self.store_url}


class Bots:
    """One process on a port of its own. Its log outlives it."""

    def __init__(self, config: BotsConfig) -> None:
        self._config = config
        self.port = free_port()
        self.log = config.folder / f"bots-{self.port}.log"
        self.ended_alone = 0
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it; it is ready when it says so in its log."""
        arguments = ("serve", "--config", str(self._config.settings))
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "sayso_bots",
                *arguments,
                env=self._config.environment(self.port),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    async def killed(self, seconds: float) -> None:
        """Killed at once, and started again."""
        self._signal(signal.SIGKILL)
        await self._restarted(seconds)

    async def retired(self, seconds: float) -> None:
        """Told to stop, and started again."""
        self._signal(signal.SIGTERM)
        await self._restarted(seconds)

    async def stopped(self, seconds: float) -> None:
        """Held for a while in the middle of whatever it does."""
        self._signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self._signal(signal.SIGCONT)

    async def close(self) -> None:
        """End it."""
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGKILL)
        if self._process is not None:
            await self._process.wait()

    async def served(self) -> None:
        """Wait until it serves; it is started again where it ended by itself, and that is counted.

        Raises:
            TimeoutError: it never does.
        """
        await until(self._is_serving)

    async def _is_serving(self) -> bool:
        """Whether somebody takes connections on its port."""
        if self._process is None or self._process.returncode is not None:
            self.ended_alone += 1
            await self.start()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        return True

    async def _restarted(self, seconds: float) -> None:
        assert self._process is not None
        await self._process.wait()
        await asyncio.sleep(seconds)
        await self.start()
        await self.served()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)


def deliver_to(playground: Playground, url: str) -> None:
    """Let both platforms call the bots at this address."""
    playground.slack.deliver_to(f"{url}/slack/events")
    playground.telegram.deliver_to(f"{url}/telegram/webhook", secret_token=WEBHOOK_SECRET)
