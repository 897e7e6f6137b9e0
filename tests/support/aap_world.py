"""Bots with the provider of the Agent Approval Protocol at work, and a client of it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import aiohttp
from support.commands import deliver_to, env_of

from sayso.stores.backend import Backend
from sayso_bots.server.server import serving
from sayso_bots.settings.settings import settings_of
from sayso_bots.settings.source import source_of
from sayso_bots.settings.tokens import token_hash
from sayso_playground import Playground, SlackMessage

PROVISIONER, STRANGER = (f"sayso_{name:p<43}" for name in ("fleet", "stranger"))
SECRET = "a secret of this test, which is long enough"


def aap_toml(more: str = "", *, policy: str = "") -> str:
    """Settings with a route, the provider, and two provisioners."""
    return f"""
[[route]]
to = ["slack:C0OPS"]
approvers = ["slack:U0ALICE"]

{policy}

[limits]
open_per_agent = "off"
open_per_token = "off"

[aap]
per_second = 2000
requests_per_second = 1000
provisioner_per_second = 1000
waiting = 60
{more}

[[aap.provisioner]]
name = "fleet"
sha256 = "{token_hash(PROVISIONER)}"

[[aap.provisioner]]
name = "stranger"
sha256 = "{token_hash(STRANGER)}"
"""


@dataclass
class Answer:
    """An answer of the provider, read to its end."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """Its body; names that are twice in it are an error, and fractions exact."""
        return json.loads(self.text, parse_float=Decimal, object_pairs_hook=_once)

    @property
    def error(self) -> tuple[int, str]:
        """Its status and code, of an answer that is a whole error."""
        error = self.json["error"]
        assert set(self.json) == {"error"}
        assert set(error) <= {"type", "code", "message", "param", "request_id"}
        assert error["type"] == TYPES[self.status]
        assert error["message"]
        assert error["request_id"] == self.headers["X-Request-ID"]
        return self.status, error["code"]


TYPES = {
    400: "invalid_request",
    401: "authentication",
    403: "authorization",
    404: "not_found",
    405: "invalid_request",
    409: "conflict",
    422: "invalid_request",
    429: "rate_limit",
    500: "internal",
    503: "dependency",
}


@dataclass
class AapWorld:
    """The bots, their platforms, and a client with the token of one instance."""

    url: str
    playground: Playground
    session: aiohttp.ClientSession
    backend: Backend
    token: str = ""
    instance_id: str = ""
    agent: str = ""
    name: str = ""

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        key: str | None = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One call, with the instance's token unless another is given; ``data`` goes as it is."""
        token = self.token if token is None else token
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        if key is not None:
            sent["Idempotency-Key"] = key
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = "application/json"
        async with self.session.request(
            method,
            f"{self.url}/aap{path}",
            data=None if data is None else io.BytesIO(data),
            headers={**sent, **(headers or {})},
        ) as response:
            assert UUID(response.headers["X-Request-ID"])
            return Answer(response.status, response.headers, await response.text())

    async def provision(self, *, key: str = "", **body: Any) -> dict[str, Any]:
        """A new instance, and its credential."""
        answer = await self.call(
            "POST", "/v1/instances", body, token=PROVISIONER, key=key or str(uuid4())
        )
        assert answer.status == 201, answer.text
        made: dict[str, Any] = answer.json
        return made

    async def ask(self, *, key: str | None = None, **more: Any) -> Answer:
        """Ask for a call."""
        return await self.call("POST", "/v1/requests", a_call(**more), key=key or str(uuid4()))

    async def asked(self, **more: Any) -> dict[str, Any]:
        """The request that was asked for just now."""
        answer = await self.ask(**more)
        assert answer.status == 201, answer.text
        request: dict[str, Any] = answer.json
        return request

    async def asked_raw(self, arguments: str) -> dict[str, Any]:
        """The request that was asked for just now, with arguments as they are written."""
        body = f'{{"tool":"run_command","timeout":"10m","arguments":{arguments}}}'
        answer = await self.call("POST", "/v1/requests", data=body.encode(), key=str(uuid4()))
        assert answer.status == 201, answer.text
        request: dict[str, Any] = answer.json
        return request

    async def get(self, request_id: str, wait: str = "") -> Answer:
        """How a request stands."""
        query = f"?wait={wait}" if wait else ""
        return await self.call("GET", f"/v1/requests/{request_id}{query}")

    async def consume(self, request_id: str, key: str = "") -> Answer:
        """Use an approval."""
        path = f"/v1/requests/{request_id}/consume"
        return await self.call("POST", path, key=key or str(uuid4()))

    async def report(self, request_id: str, **body: Any) -> Answer:
        """Say how a call went."""
        return await self.call("POST", f"/v1/requests/{request_id}/outcome", body)

    async def card(self, text: str = "") -> SlackMessage:
        """The card of this instance that contains the text."""
        return await self.playground.slack.message_where(
            lambda message: text in message.all_text and self.agent in message.all_text
        )

    async def approved(self, **more: Any) -> dict[str, Any]:
        """A request that somebody allowed."""
        return await self.pressed("Allow", **more)

    async def pressed(self, label: str, **more: Any) -> dict[str, Any]:
        """A request whose card had this button pressed."""
        mark = uuid4().hex
        # Of a session of its own: calls of one that come together share a card.
        context = {"session_id": mark}
        request = await self.asked(arguments={"command": mark}, context=context, **more)
        card = await self.card(mark)
        waiting = asyncio.ensure_future(self.get(request["id"], wait="25s"))
        await self.playground.slack.press(card, label, by="alice")
        ended: dict[str, Any] = (await waiting).json
        return ended


def a_call(**more: Any) -> dict[str, Any]:
    """A submission as an adapter writes it; what is None is left out."""
    call = {
        "tool": "run_command",
        "arguments": {"command": "terraform apply"},
        "timeout": "10m",
        **more,
    }
    return {name: value for name, value in call.items() if value is not None}


@asynccontextmanager
async def aap_world_on(
    playground: Playground, backend: Backend, toml: str | None = None, **more: str
) -> AsyncIterator[AapWorld]:
    """Bots with these settings on this store, and a new instance of theirs."""
    env = env_of(playground, SAYSO_STORE_URL="memory://", SAYSO_AAP_SECRET=SECRET, **more)
    settings = settings_of(source_of(toml or aap_toml(), env))
    # At the end the client lives on until what it waits for is answered.
    async with aiohttp.ClientSession() as session, serving(settings, backend=backend) as bots:
        deliver_to(playground, bots.url)
        yield await with_instance(AapWorld(bots.url, playground, session, backend))


async def with_instance(world: AapWorld) -> AapWorld:
    """The same world, with an instance of one's own."""
    name = f"bot-{uuid4().hex[:12]}"
    made = await world.provision(instance_name=name)
    return AapWorld(
        world.url,
        world.playground,
        world.session,
        world.backend,
        made["credential"]["token"],
        made["instance"]["id"],
        f"fleet/{name}",
        name,
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)
