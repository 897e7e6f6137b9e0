"""A receiver of webhooks with TLS, which writes down what came and answers as it is told."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from support.certificates import serving_with, trusting

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.aap.webhooks.networks import Reach
from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.sending import Sender

HOST = "hooks.example.com"
KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
REGISTRATION = "0e2c52f4-7a3f-4e19-9df6-7a6ba5b0cb0e"
HERE = Reach((ip_network("127.0.0.1/32"),))


@dataclass(frozen=True)
class Came:
    """One call, as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The body, read."""
        message: dict[str, Any] = json.loads(self.body)
        return message


Answering = Callable[[Came], Awaitable[web.StreamResponse]]


async def verifying(came: Came) -> web.StreamResponse:
    """What a receiver does that takes everything."""
    if came.message["type"] == "webhook.verification":
        return web.json_response({"challenge": came.message["challenge"]})
    return web.Response(status=204)


@dataclass
class Hooks:
    """The receiver. ``answering`` may be changed at any time."""

    port: int
    answering: Answering = verifying
    calls: list[Came] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    _came: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"https://{HOST}:{self.port}/aap/events?from=sayso%20here"

    @property
    def local(self) -> str:
        """Where it is for whoever asks no name server of a test."""
        return f"https://127.0.0.1:{self.port}/aap/events"

    def delivery(self, **more: Any) -> dict[str, Any]:
        """It as a provisioner registers it."""
        return {
            "type": "webhook",
            "url": self.local,
            "registration_id": REGISTRATION,
            "signing_secret": SECRET,
            **more,
        }

    @property
    def receiver(self) -> Receiver:
        """It, registered."""
        return Receiver(self.url, REGISTRATION, KEY)

    @property
    def events(self) -> Sequence[Came]:
        """The notifications, without verifications."""
        return [call for call in self.calls if call.message["type"] == "request.resolved"]

    @property
    def challenges(self) -> Sequence[Came]:
        """The verifications."""
        return [call for call in self.calls if call.message["type"] == "webhook.verification"]

    async def until(self, number: int) -> None:
        """Wait until so many notifications have come."""
        async with asyncio.timeout(PATIENCE_SECONDS), self._came:
            await self._came.wait_for(lambda: len(self.events) >= number)

    async def take(self, request: web.Request) -> web.StreamResponse:
        """One call."""
        came = Came(request.path_qs, dict(request.headers), await request.read())
        self.calls.append(came)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        async with self._came:
            self._came.notify_all()
        try:
            return await self.answering(came)
        finally:
            self.at_once -= 1


@asynccontextmanager
async def hooks(certificate: Path) -> AsyncIterator[Hooks]:
    """The receiver while the block runs."""
    application = web.Application()
    server = TestServer(application, scheme="https")
    found: list[Hooks] = []

    async def take(request: web.Request) -> web.StreamResponse:
        return await found[0].take(request)

    application.router.add_route("*", "/{rest:.*}", take)
    await server.start_server(ssl=serving_with(certificate))
    assert server.port is not None
    found.append(Hooks(server.port))
    try:
        yield found[0]
    finally:
        await server.close()


async def leads_here(_host: str, _port: int) -> Sequence[str]:
    """A name server for which every name is this computer."""
    return ["127.0.0.1"]


def sender_to(certificate: Path, *, seconds: float = 10.0) -> Sender:
    """A sender that finds the receiver, and trusts it."""
    return Sender(HERE, trusting(certificate), resolve=leads_here, seconds=seconds)
