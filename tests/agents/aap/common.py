"""What the agents share that tests start: what they are told and say, a tool, a receiver.

They run in environments of their own, with ``agentapprovalprotocol`` as it is published. A test
writes a line for each run that it wants, and reads lines of what happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
import sys
import warnings
from collections.abc import Callable
from typing import Any

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

TOOL = "pay"
ARGUMENTS = {"to": "Acme & Söhne", "amount": 1250.1, "cents": 125010}
SAYS = "I pay the invoice."


class Scene:
    """One run that the test wants: its thread, the id of its call, who decides and where."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told
        self.how: str = told["how"]
        self.thread: str = told["thread"]
        self.call_id: str = f"call-of-{self.thread}"
        self.provider = (told["url"], told["token"])


def say(what: str, **more: Any) -> None:
    """Tell the test."""
    print(json.dumps({"is": what, **more}), flush=True)


def pay(to: str, amount: float, cents: int) -> str:
    """Pay somebody."""
    say("ran", to=to, amount=amount, cents=cents)
    return f"paid {to}"


def play(**runs: Callable[[Scene], Any]) -> None:
    """Make each run that the test wants, by the name of how it is made."""
    say("ready", runs=sorted(runs))
    for line in sys.stdin:
        scene = Scene(json.loads(line))
        made = runs[scene.how](scene)
        if asyncio.iscoroutine(made):
            asyncio.run(made)
        say("done")


class Woken:
    """A run that was left, and the receiver that wakes it."""

    def __init__(self, scene: Scene, framework: str) -> None:
        self._scene = scene
        self._framework = framework
        self._over = asyncio.Event()
        self.resumer: Any = None

    @contextlib.asynccontextmanager
    async def receiving(self) -> Any:
        """The address and token of an instance whose receiver is the package's, behind TLS."""
        from agentapprovalprotocol import Receiver

        receiver = Receiver(resumers={self._framework: self._resume})
        told = self._scene.told
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(f"{told['certificate']}/crt", f"{told['certificate']}/key")

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _answer(receiver, reader, writer)

        async with await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls) as server:
            port = server.sockets[0].getsockname()[1]
            made = await receiver.provision(
                provider_url=told["url"],
                provisioner_token=told["provisioner"],
                url=f"https://127.0.0.1:{port}/aap/events",
                instance_name="a-paused-agent",
            )
            yield told["url"], made.token

    async def over(self) -> None:
        """Say that the run was left, and wait until it was woken and has ended."""
        say("paused")
        await self._over.wait()

    async def _resume(self, handle: Any, request: Any) -> None:
        try:
            await self.resumer(handle, request)
        finally:
            self._over.set()


async def _answer(
    receiver: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in head[1:] if line)
    length = {name.lower(): value for name, value in headers.items()}["content-length"]
    status, body = await receiver.handle(headers, await reader.readexactly(int(length)))
    say("webhook", status=status)
    writer.write(b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)
    await writer.drain()
    writer.close()
