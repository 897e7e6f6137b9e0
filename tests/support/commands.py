"""Commands that run, settings that fit the playground."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground

WEBHOOK_SECRET = "a-secret-of-this-test"
SLACK, TELEGRAM = "slack:C0OPS", "telegram:-1001234567890"

# The code that the tests run on, wherever that is.
_INHERITED = ("PATH", "PYTHONPATH")

PEOPLE = """
[people.alice]
slack = "U0ALICE"
telegram = 4242
"""

ROUTES = f"""
{PEOPLE}
[[route]]
tool = "nowhere_*"
to = ["slack:C0RANDOM"]
approvers = ["alice"]

[[route]]
to = ["{SLACK}", "{TELEGRAM}"]
approvers = ["alice"]
"""


def env_of(playground: Playground, **more: str) -> dict[str, str]:
    """The environment of bots that talk to the playground."""
    return {
        "SLACK_BOT_TOKEN": playground.config.slack_bot_token,
        "SLACK_SIGNING_SECRET": playground.config.slack_signing_secret,
        "SAYSO_SLACK_API_URL": playground.slack_api_url,
        "TELEGRAM_BOT_TOKEN": playground.config.telegram_bot_token,
        "TELEGRAM_WEBHOOK_SECRET": WEBHOOK_SECRET,
        "SAYSO_TELEGRAM_API_URL": playground.telegram_api_url,
        # The played platforms take as many messages as there are.
        "SAYSO_SLACK_PER_CHANNEL": "off",
        "SAYSO_TELEGRAM_PER_CHAT": "off",
        "SAYSO_PORT": "0",
        **more,
    }


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


class Run(Protocol):
    """Runs a command in this process."""

    def __call__(self, *argv: str, env: Mapping[str, str] | None = None, toml: str = "") -> Done:
        """Run it with this environment and this text as its settings file."""
        ...


class Process:
    """A real ``sayso`` process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []

    async def line_with(self, text: str) -> str:
        """The next line on stderr that contains the text."""
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            while read := await self.process.stderr.readline():
                line = read.decode().rstrip("\n")
                self.lines.append(line)
                if text in line:
                    return line
        raise AssertionError(f"no line with {text!r} in {self.lines}")

    async def ended(self) -> Done:
        """The process, when it has ended."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, err = await self.process.communicate()
        return Done(self.process.returncode or 0, out.decode(), err.decode())


async def start_command(
    *words: str, env: Mapping[str, str], **options: Any
) -> asyncio.subprocess.Process:
    """Start ``python -P -m sayso_bots`` with these words; the options are asyncio's."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "sayso_bots", *words), env=env, **options
    )


@asynccontextmanager
async def process(*argv: str, env: Mapping[str, str]) -> AsyncIterator[Process]:
    """A ``sayso`` process that does not outlive the block."""
    own = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    started = await start_command(
        *argv,
        env={**own, "HOME": "/nonexistent", "USER": "tester", **env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Process(started)
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


def deliver_to(playground: Playground, url: str) -> None:
    """Let both platforms call the bots at this address."""
    playground.slack.deliver_to(f"{url}/slack/events")
    playground.telegram.deliver_to(f"{url}/telegram/webhook", secret_token=WEBHOOK_SECRET)


@asynccontextmanager
async def served(
    playground: Playground, config: Path, env: Mapping[str, str]
) -> AsyncIterator[Process]:
    """``sayso serve`` in a process of its own, at work."""
    async with process("serve", "--config", str(config), env=env) as bots:
        line = await bots.line_with("serves on")
        deliver_to(playground, line.split()[3])
        yield bots
