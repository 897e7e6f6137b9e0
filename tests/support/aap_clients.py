"""``sayso serve`` with the provider, the platforms, and an agent of a framework that asks there."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
from e2e.hands import SlackHands
from support.aap_world import PROVISIONER, SECRET, aap_toml
from support.commands import env_of, served
from support.frameworks import interpreter
from support.playing import a_playground
from support.ports import free_port

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground, SlackMessage

AGENTS = Path(__file__).parents[1] / "agents" / "aap"
MARK = "Acme & Söhne"
_QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "LANGSMITH_TRACING": "false",
    "DO_NOT_TRACK": "1",
}


@dataclass
class Agent:
    """A process with an agent. Each line that it says is kept."""

    process: asyncio.subprocess.Process
    said: list[dict[str, Any]] = field(default_factory=list)

    async def until(self, what: str) -> dict[str, Any]:
        """The next line of this kind."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            while line := await self.process.stdout.readline():
                if not line.startswith(b'{"is"'):
                    continue  # frameworks print, too
                self.said.append(json.loads(line))
                if self.said[-1]["is"] == what:
                    return self.said[-1]
        raise AssertionError(f"the agent ended without {what!r}: {self.said}")

    def all(self, what: str) -> list[dict[str, Any]]:
        """The lines of this kind, of the run that was begun last."""
        return [one for one in self.said if one["is"] == what]

    async def begin(self, how: str, scene: Scene, **more: Any) -> None:
        """Begin a run."""
        told = {"how": how, "thread": f"thread-{uuid4().hex[:8]}", **scene.told, **more}
        self.said.clear()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(told).encode() + b"\n")
        await self.process.stdin.drain()

    async def ended(self) -> str:
        """What the model was told of its call, once the run has ended."""
        await self.until("done")
        (told,) = {one["text"] for one in self.all("told")}
        text: str = told
        return text


@dataclass
class Scene:
    """The bots, the platforms, and an instance."""

    playground: Playground
    url: str
    token: str
    certificate: Path
    serves: Serves

    @property
    def told(self) -> Mapping[str, Any]:
        """What every run is told."""
        return {
            "url": f"{self.url}/aap",
            "token": self.token,
            "provisioner": PROVISIONER,
            "certificate": str(self.certificate),
        }

    @property
    def slack(self) -> SlackHands:
        """A person in Slack."""
        return SlackHands(self.playground)

    @property
    def cards(self) -> int:
        """How many cards there are, open or not."""
        return len(self.playground.slack.messages())

    async def card(self) -> SlackMessage:
        """The card that is open."""
        return await self.playground.slack.message_where(lambda one: bool(one.buttons))

    async def ended(self, words: str) -> str:
        """What the newest card says, once it has ended with these words."""
        return await self.slack.ended(words)


class Serves:
    """``sayso serve`` in a process, which can be started anew on the same port."""

    def __init__(self, playground: Playground, config: Path, env: Mapping[str, str]) -> None:
        self._playground = playground
        self._config = config
        self._env = env
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        """Serve."""
        bots = await self._stack.enter_async_context(
            served(self._playground, self._config, self._env)
        )
        self._process = bots.process
        self._reading = asyncio.create_task(_drained(bots.process))

    async def stop(self) -> int:
        """Stop as a service manager does; the exit code."""
        self._process.terminate()
        async with asyncio.timeout(PATIENCE_SECONDS):
            code = await self._process.wait()
        await self.close()
        return code

    async def close(self) -> None:
        """End it, however it is."""
        await self._stack.aclose()
        await asyncio.gather(self._reading, return_exceptions=True)


async def _drained(process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None
    while await process.stderr.readline():
        pass


@asynccontextmanager
async def scene_on(store_url: str, folder: Path, certificate: Path) -> AsyncIterator[Scene]:
    """All of it while the block runs, on a port that outlives a restart."""
    async with a_playground() as playground:
        port = free_port()
        env = env_of(
            playground,
            SAYSO_STORE_URL=store_url,
            SAYSO_AAP_SECRET=SECRET,
            SAYSO_PORT=str(port),
            SSL_CERT_FILE=str(certificate / "crt"),
        )
        config = folder / "sayso.toml"
        config.write_text(aap_toml('allow_private_receivers = ["127.0.0.1/32"]'))
        serves = Serves(playground, config, env)
        await serves.start()
        try:
            url = f"http://127.0.0.1:{port}"
            yield Scene(playground, url, await _instance(url), certificate, serves)
        finally:
            await serves.close()


async def _instance(url: str) -> str:
    headers = {"Authorization": f"Bearer {PROVISIONER}", "Idempotency-Key": uuid4().hex}
    body = {"instance_name": "payer"}
    async with aiohttp.ClientSession() as session:
        made = await session.post(f"{url}/aap/v1/instances", json=body, headers=headers)
        token: str = (await made.json())["credential"]["token"]
        return token


@asynccontextmanager
async def agent(environment: str, script: str, home: Path) -> AsyncIterator[Agent]:
    """The agent of a script, in the environment of its framework."""
    process = await asyncio.create_subprocess_exec(
        *(str(interpreter(environment)), str(AGENTS / f"{script}.py")),
        env={"PATH": os.environ["PATH"], "HOME": str(home), **_QUIET},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    try:
        started = Agent(process)
        await started.until("ready")
        yield started
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
