"""Integration by integration: each takes the policy, the route's timeout, the audit and the key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from support.acp_room import a_call, permission
from support.api_world import CI
from support.hooked import Machine, a_machine, ended, event, until_asked
from support.mcp_room import call

from sayso.calls import RunRef
from sayso.clock import utc_now
from sayso.events import Outcome
from sayso.questions.permission import PermissionRequestEvent, call_of
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing.builders import PATIENCE_SECONDS, a_request
from sayso_bots.acp.proxy import Proxy as EditorProxy
from sayso_bots.api.api import hosted_api
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.config.api_tokens import ApiSettings, ApiToken, hash_token
from sayso_bots.config.store_settings import AskSettings, read_ask_settings
from sayso_bots.hook.http_hook import DECIDE_PATH
from sayso_bots.hook.http_route import HookRoute
from sayso_bots.mcp.approvals import Approvals, Client
from sayso_bots.mcp.builtin import Asked, Own
from sayso_bots.mcp.guard import Guard, Running
from sayso_bots.mcp.messages import read

ROUTE_SECONDS = 20
TOML = f"""
[[policy]]
audit = true
allow = [{{ tool = "look" }}]
deny = [{{ tool = "explode" }}]

[[route]]
to = ["slack:C0OPS"]
approvers = ["slack:U0ALICE"]
timeout = "{ROUTE_SECONDS}s"
"""
TOKEN = "of-this-test-and-of-no-other-one-at-all"
BOB = "slack:U0BOB"


@dataclass
class World:
    """One store with one set of settings, in which every integration asks."""

    machine: Machine
    store: Backend
    settings: AskSettings
    url: str

    def service(self, integration: str) -> AskService:
        """The service as an integration has it."""
        return AskService(self.store, self.settings, Requester("bot", 60, 5), integration)


@pytest.fixture
async def world(tmp_path: Path, store_url: str) -> AsyncIterator[World]:
    machine = a_machine(tmp_path, TOML, SAYSO_STORE_URL=store_url)
    settings = read_ask_settings(machine.env["SAYSO_CONFIG"], {}, store_url=store_url)
    async with open_store(store_url) as store:
        yield World(machine, store, settings, store_url)


async def ask_by_hook(world: World, tool: str) -> bool:
    setup = (world.settings, world.service("hook").requester)
    route = HookRoute(world.store, world.url, TOKEN, lambda: setup)
    app = web.Application()
    app.add_routes(route.routes())
    async with TestClient(TestServer(app)) as client:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = await client.post(DECIDE_PATH, data=event(tool, f"toolu_{tool}"), headers=headers)
        said = (await answer.json())["hookSpecificOutput"]["permissionDecision"]
    return bool(said == "allow")


async def ask_by_mcp(world: World, tool: str) -> bool:
    approvals = Approvals(world.service("mcp"), RunRef("bot", "s-1"))
    proxy = Asked(Guard(approvals, Running(approvals, reports=False), "bot"))
    asked = call("request_approval", arguments={"tool": tool, "arguments": {"a": 1}})

    async def tell(_: bytes) -> None:
        return None

    said = await proxy.request(read(json.dumps(asked).encode()), Client(), Own(), tell)
    assert said is not None
    return "isError" not in json.loads(said)["result"]


async def ask_by_acp(world: World, tool: str) -> bool:
    read_by_agent: asyncio.Queue[bytes] = asyncio.Queue()

    async def to_editor(_: bytes) -> None:
        return None

    proxy = EditorProxy(
        world.service("acp"), to_editor=to_editor, to_agent=read_by_agent.put, chat_only=True
    )
    asked = permission(toolCall=a_call(kind=tool))
    await proxy.from_agent(json.dumps(asked).encode())
    said = json.loads(await read_by_agent.get())
    await proxy.close()
    return bool(said["result"]["outcome"].get("optionId") == "yes")


async def ask_by_command(world: World, tool: str) -> bool:
    words = ("ask", tool, "--arg", "a=1", "--agent", "bot", "--session", "s-1", "--key", tool)
    requester = ("--requested-by", BOB, "--quiet")
    async with world.machine.started(*words, *requester) as process:
        return (await ended(process)).code == 0


async def ask_by_api(world: World, tool: str) -> bool:
    tokens = (ApiToken("ci", hash_token(CI), ("*",)),)
    settings = ApiSettings(tokens, per_second=1_000)
    policies, routes = world.settings.policies, world.settings.routes
    async with hosted_api(settings, world.store, routes, {}, policies=policies) as api:
        app = web.Application()
        app.add_routes(api.routes())
        async with TestClient(TestServer(app)) as client:
            branch = "/agents/bot/sessions/s-1/branches/main/requests"
            body = {
                "type": "PERMISSION_REQUEST",
                "functionName": tool,
                "arguments": {"a": 1},
                "requestedBy": BOB,
            }
            headers = {"Authorization": f"Bearer {CI}"}
            posted = await client.post(
                branch, json=body, headers={**headers, "Idempotency-Key": tool}
            )
            said = await posted.json()
            request_id = said["request"]["permissionId"]
            while said["response"] is None:
                polled = await client.get(f"{branch}/{request_id}?wait=30s", headers=headers)
                said = await polled.json()
            api.end()
    return bool(said["response"].get("approved"))


ASK: dict[str, Callable[[World, str], Awaitable[bool]]] = {
    "hook": ask_by_hook,
    "mcp": ask_by_mcp,
    "acp": ask_by_acp,
    "command": ask_by_command,
    "api": ask_by_api,
}
REQUESTERS = {"command": BOB, "api": BOB}
KEYED = ["hook", "command", "api"]


async def decide(world: World, asking: Awaitable[bool], **how: Any) -> PermissionRequestEvent:
    """Let a person approve what is asked; the request."""
    task = asyncio.ensure_future(asking)
    async with asyncio.timeout(PATIENCE_SECONDS):
        request = await until_asked(world.store)
        await world.store.store.settle(
            request.question_id, request.approve(by="slack:U0ALICE", **how)
        )
        assert await task
    return request


@pytest.mark.parametrize("integration", ASK)
async def test_a_rule_decides_without_a_person_and_is_audited(
    world: World, integration: str
) -> None:
    ask = ASK[integration]
    allowed, denied = await ask(world, "look"), await ask(world, "explode")
    entries = await world.store.audit.read(50)

    assert (allowed, denied) == (True, False)
    assert await world.store.store.list_requests() == []
    ruled = {(entry.subject, entry.kind) for entry in entries}
    assert ruled >= {("look", "rule_allowed"), ("explode", "rule_denied")}


@pytest.mark.parametrize("integration", ASK)
async def test_a_request_waits_as_long_as_its_route_says_for_whoever_wants_it(
    world: World, integration: str
) -> None:
    request = await decide(world, ASK[integration](world, "deploy"))
    record = await world.store.store.get(request.question_id)

    assert record is not None
    assert 0 < record.seconds_left <= ROUTE_SECONDS
    assert request.requested_by == REQUESTERS.get(integration)
    assert request.run.agent_id == "bot"


@pytest.mark.parametrize("integration", KEYED)
async def test_a_call_that_comes_again_has_the_response_that_was_given(
    world: World, integration: str
) -> None:
    ask = partial(ASK[integration], world, "deploy")
    await decide(world, ask())

    assert await ask()
    assert await world.store.store.list_requests() == []


async def always_deny(store: Backend, request: PermissionRequestEvent) -> None:
    """Let a person press *Always deny* on another question about the same call."""
    other = a_request(run=request.run)
    now = utc_now()
    rule = literal_rule(call_of(request))
    remembered = RememberedRule(rule, "deny", BOB, now, now + timedelta(hours=1))
    await store.store.open(other, seconds=30, inbox="", book=None)
    await store.store.settle(other.question_id, other.deny(by=BOB), remember=remembered)


@pytest.mark.parametrize("integration", ["hook", "mcp", "acp"])
async def test_what_is_denied_by_the_time_of_the_response_does_not_run(
    world: World, integration: str
) -> None:
    asking = asyncio.ensure_future(ASK[integration](world, "deploy"))
    request = await until_asked(world.store)
    await always_deny(world.store, request)
    approval = request.approve(by="slack:U0ALICE")
    settled = await world.store.store.settle(request.question_id, approval)

    assert settled.forbidden
    assert settled.ending.outcome is Outcome.DENIED
    assert not await asking
