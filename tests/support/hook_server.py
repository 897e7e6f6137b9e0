"""``sayso hook serve`` in a process of its own, and requests to it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
from support.hooked import Machine

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.hook.http_hook import DECIDE_PATH

TOKEN = "of-this-test-and-of-no-other-one-at-all"


@dataclass
class HookServer:
    """Where it answers, and the process."""

    url: str
    process: asyncio.subprocess.Process

    @property
    def address(self) -> str:
        """Its host and port."""
        return urlsplit(self.url).netloc

    async def post(
        self,
        body: bytes,
        *,
        path: str = DECIDE_PATH,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Send a body, with the token unless told; the status and what came back."""
        own = {"Authorization": f"Bearer {TOKEN}"} if headers is None else headers
        timeout = aiohttp.ClientTimeout(PATIENCE_SECONDS)
        async with (
            aiohttp.ClientSession(f"http://{self.address}", timeout=timeout) as session,
            session.request(method, path, data=body, headers=own) as response,
        ):
            return response.status, await response.read()

    async def stop(self) -> None:
        """End it by a signal."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self.process.wait()


@asynccontextmanager
async def hook_server(machine: Machine, *options: str) -> AsyncIterator[HookServer]:
    """The server on a free port; it does not outlive the block."""
    words = ("hook", "serve", "--listen", "127.0.0.1:0", *options)
    async with machine.started(*words, env={"SAYSO_HOOK_TOKEN": TOKEN}) as process:
        yield await until_it_answers(process)


async def until_it_answers(process: asyncio.subprocess.Process) -> HookServer:
    """The server of this process, once it says where it answers."""
    assert process.stderr is not None
    said = ""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "answers hooks on" not in said:
            line = await process.stderr.readline()
            assert line, said
            said += line.decode()
    return HookServer(said.split()[-1], process)
