"""Bots with the hosted API at work in this process, and a client of it."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import aiohttp
from support.commands import deliver_to, env_of

from sayso.stores.backend import Backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.config.api_tokens import hash_token
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.server import Serving, serving
from sayso_playground import Playground, SlackMessage

CI, REVIEWER, OTHER = (f"sayso_{name:x<43}" for name in ("ci", "reviewer", "other"))
# What a card's buttons carry.
_HANDLE = re.compile(r'"value": "([A-Za-z0-9_-]{16,200})"')
ORIGIN = "https://dashboard.example.com"


def token_lines(name: str, token: str, agents: str = '["*"]', more: str = "") -> str:
    """A token of the settings."""
    return (
        f'[[api.token]]\nname = "{name}"\nsha256 = "{hash_token(token)}"\n'
        f"agents = {agents}\n{more}\n"
    )


TOKENS = "\n".join(
    (
        token_lines("ci", CI, '["deploy-*"]'),
        token_lines("reviewer", REVIEWER),
        token_lines("other", OTHER, '["other-*"]'),
    )
)
ROUTE = """
[[route]]
to = ["slack:C0OPS"]
approvers = ["slack:U0ALICE", "api:reviewer"]
"""
API = f'[api]\norigins = ["{ORIGIN}"]\nper_second = 1000\n'
# The tests of a module share a world, and leave what they asked open.
WITHOUT_LIMITS = '[limits]\nopen_per_agent = "off"\nopen_per_token = "off"\n'
TOML = f"{ROUTE}{WITHOUT_LIMITS}{API}{TOKENS}"


@dataclass
class Reply:
    """An answer of the API, read to its end."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """Its body."""
        return json.loads(self.text)

    @property
    def problem(self) -> tuple[int, str]:
        """Its status and code, of an answer that is a whole problem document."""
        assert self.headers["Content-Type"] == "application/problem+json"
        document = self.json
        assert document["status"] == self.status
        assert document["type"] == f"urn:sayso:problem:{document['code']}"
        assert document["title"]
        assert document["detail"]
        return self.status, document["code"]

    @property
    def pointers(self) -> list[str]:
        """Which fields it says are wrong."""
        assert self.problem == (422, "InvalidEvent")
        return [wrong["pointer"] for wrong in self.json["errors"]]


@dataclass
class Event:
    """One server-sent event."""

    id: str = ""
    type: str = ""
    data: Any = None
    comments: list[str] = field(default_factory=list)


class Stream:
    """An open stream of events, parsed as a browser would."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response
        self.last_id = ""
        self.comments = 0
        self.retry = 0

    async def next(self) -> Event:
        """The next event; EOFError when the stream ends."""
        event = Event()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while line := await self.response.content.readline():
                name, _, value = line.decode().rstrip("\n").partition(":")
                value = value.removeprefix(" ")
                if name == "id":
                    self.last_id = event.id = value
                elif name == "event":
                    event.type = value
                elif name == "data":
                    event.data = json.loads(value)
                elif name == "retry":
                    self.retry = int(value)
                elif line.startswith(b":"):
                    self.comments += 1
                elif event.data is not None:
                    return event
        raise EOFError

    async def types(self, count: int) -> list[str]:
        """The types of the next events."""
        return [(await self.next()).type for _ in range(count)]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.response.close()


@dataclass
class World:
    """The bots, their platforms, and a client."""

    url: str
    playground: Playground
    session: aiohttp.ClientSession
    backend: Backend
    bots: Serving
    session_id: str = "s-42"
    _sessions: dict[str, str] = field(default_factory=dict)

    @property
    def branch(self) -> str:
        """The address of this test's branch."""
        return f"/agents/deploy-bot/sessions/{self.session_id}/branches/main"

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = CI,
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
    ) -> Reply:
        """One call; ``data`` instead of a body is sent as it is."""
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = "application/json"
        async with self.session.request(
            method,
            self.url + path,
            data=None if data is None else io.BytesIO(data),
            headers={**sent, **(headers or {})},
        ) as response:
            return Reply(response.status, response.headers, await response.text())

    async def ask(self, *, branch: str = "", token: str = CI, **more: Any) -> Reply:
        """Ask for a permission."""
        return await self.call(
            "POST", f"{branch or self.branch}/requests", a_body(**more), token=token
        )

    async def asked(self, *, branch: str = "", token: str = CI, **more: Any) -> dict[str, Any]:
        """The request that was asked."""
        reply = await self.ask(branch=branch, token=token, **more)
        assert reply.status == 201, reply.text
        request: dict[str, Any] = reply.json["request"]
        return request

    async def respond(
        self, request_id: str, *, token: str = REVIEWER, branch: str = "", **more: Any
    ) -> Reply:
        """Answer a permission."""
        body = {"type": "PERMISSION_RESPONSE", "permissionId": request_id, "approved": True}
        return await self.call(
            "POST", f"{branch or self.branch}/responses", {**body, **more}, token=token
        )

    async def follow(
        self, last_id: str = "", *, branch: str = "", token: str = CI, **query: str
    ) -> Stream:
        """An open stream of the branch's events."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if last_id:
            headers["Last-Event-ID"] = last_id
        response = await self.session.get(
            f"{self.url}{branch or self.branch}/events",
            headers=headers,
            params=query,
            timeout=aiohttp.ClientTimeout(total=None),
        )
        assert response.status == 200, await response.text()
        return Stream(response)

    async def card(self, text: str = "") -> SlackMessage:
        """The card in this test's session that contains the text."""
        sessions = self._sessions
        while True:
            found = await self.playground.slack.message_where(
                lambda message: (
                    text in message.all_text
                    and sessions.get(message.ts, self.session_id) == self.session_id
                )
            )
            if found.ts not in sessions:
                sessions[found.ts] = await self._session_of(found)
            if sessions[found.ts] == self.session_id:
                return found

    async def _session_of(self, message: SlackMessage) -> str:
        """The session of a card, which stands a level down on it."""
        for handle in _HANDLE.findall(json.dumps(message.blocks)):
            if (found := await self.backend.copies.find(handle)) is not None:
                return found.request.run.session_id
        return ""


def a_body(**more: Any) -> dict[str, Any]:
    """A permission request as a client writes it."""
    return {
        "type": "PERMISSION_REQUEST",
        "functionName": "run_command",
        "arguments": {"command": "terraform apply"},
        **more,
    }


@asynccontextmanager
async def world_on(
    playground: Playground, backend: Backend, toml: str = TOML
) -> AsyncIterator[World]:
    """Bots with these settings on this store."""
    settings = build_settings(parse_source(toml, env_of(playground, SAYSO_STORE_URL="memory://")))
    async with serving(settings, backend=backend) as bots, aiohttp.ClientSession() as session:
        deliver_to(playground, bots.url)
        yield World(bots.url, playground, session, backend, bots)
