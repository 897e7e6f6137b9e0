"""``sayso mcp``: an agent asks by a tool, a person answers in chat, and no tool answers."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from support.away import going_away
from support.mcp_asks import AskRoom
from support.mcp_machine import Machine
from support.mcp_machine import text as text_of
from support.mcp_room import is_error, modern, request, text

from sayso.calls import new_id
from sayso.policy.server_policy import ServerPolicy
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso_bots.mcp.builtin import TOOLS

DEPLOY = {"tool": "deploy", "arguments": {"service": "api"}}


class Broken(ServerPolicy):
    """A policy with a mistake in it."""

    def section(self, agent_id: str, tool: str) -> Any:
        raise KeyError("a mistake of ours")


@pytest.fixture
def room(backend: Backend) -> AskRoom:
    return AskRoom(backend)


async def test_an_approval_says_with_which_arguments_the_tool_may_be_called(room: AskRoom) -> None:
    task = asyncio.create_task(
        room.tool("request_approval", {**DEPLOY, "description": "The reviewed plan"})
    )
    asked = await room.card()
    assert (asked.function_name, asked.arguments) == ("deploy", {"service": "api"})
    assert asked.description == "The reviewed plan"
    await room.decided()
    said = await task

    assert not is_error(said)
    assert said["result"]["structuredContent"] == {
        "outcome": "approved",
        "arguments": {"service": "api"},
    }
    assert 'exactly these arguments: {"service": "api"}' in text(said)


async def test_edited_arguments_are_those_that_it_says(room: AskRoom) -> None:
    task = asyncio.create_task(room.tool("request_approval", DEPLOY))
    await room.decided(edited={"service": "web"})
    said = await task

    assert said["result"]["structuredContent"]["arguments"] == {"service": "web"}


async def test_a_denial_is_an_error_to_the_model(room: AskRoom) -> None:
    task = asyncio.create_task(room.tool("request_approval", DEPLOY))
    await room.decided(approved=False, reason="Not on a Friday")
    said = await task

    assert is_error(said)
    assert "Not on a Friday" in text(said)


async def test_an_agent_that_does_not_wait_looks_later(room: AskRoom) -> None:
    said = await room.tool("request_approval", {**DEPLOY, "wait": False})
    found = said["result"]["structuredContent"]
    permission_id = found["permissionId"]
    assert found["outcome"] == "waiting"
    look = {"permission_id": permission_id}
    assert (await room.tool("approval_status", look))["result"]["structuredContent"] == found
    assert await room.decided() == permission_id
    said = await room.tool("approval_status", look)

    assert said["result"]["structuredContent"]["outcome"] == "approved"
    assert said["result"]["structuredContent"]["arguments"] == {"service": "api"}


async def test_who_looks_again_is_told_of_no_second_approval(room: AskRoom) -> None:
    said = await room.tool("request_approval", {**DEPLOY, "wait": False})
    look = {"permission_id": said["result"]["structuredContent"]["permissionId"]}
    await room.decided()
    first, *later = [await room.tool("approval_status", look) for _ in range(3)]

    assert first["result"]["structuredContent"]["outcome"] == "approved"
    assert all(map(is_error, later))
    assert {"said before" in text(one) for one in later} == {True}


async def test_who_looks_at_what_the_session_did_not_ask_learns_nothing(room: AskRoom) -> None:
    assert is_error(await room.tool("approval_status", {"permission_id": new_id()}))


async def test_the_prompt_of_claude_code_is_answered_in_its_form(room: AskRoom) -> None:
    use = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "toolu_1"}
    yes = asyncio.create_task(room.tool("permission_prompt", use))
    assert (await room.card()).call_id == "toolu_1"
    await room.decided()
    allowed = await yes
    no = asyncio.create_task(room.tool("permission_prompt", {**use, "tool_use_id": "toolu_2"}))
    await room.decided(approved=False, reason="Not on a Friday")
    denied = await no

    (block,) = allowed["result"]["content"]
    assert set(allowed["result"]) == {"content"}
    assert json.loads(block["text"]) == {"behavior": "allow", "updatedInput": {"command": "ls"}}
    (block,) = denied["result"]["content"]
    told = json.loads(block["text"])
    assert (told["behavior"], "Not on a Friday" in told["message"]) == ("deny", True)


@pytest.mark.parametrize(
    "use",
    [
        {},
        {"tool_name": "Bash"},
        {"tool_name": "Bash", "input": "ls"},
        {"tool_name": 1, "input": {}},
        {"tool_name": "Bash", "input": {}, "approved": True},
    ],
    ids=str,
)
async def test_a_prompt_that_is_not_clear_is_denied(use: dict[str, Any]) -> None:
    async with memory_backend() as backend:
        room = AskRoom(backend)
        said = await room.tool("permission_prompt", use)

        assert json.loads(text(said))["behavior"] == "deny"
        assert await room.open() == 0


@pytest.mark.parametrize("failing", ["the store is away", "our own code raises"])
async def test_nothing_is_approved_where_anything_fails(backend: Backend, failing: str) -> None:
    away, going = going_away(backend, "store", "rules", "key_value")
    room = AskRoom(away, patience=0.1)
    going.away = failing == "the store is away"
    if not going.away:
        room.proxy.guard.approvals.service.settings.policies.__class__ = Broken
    asked = await room.tool("request_approval", DEPLOY)
    at_once = await room.tool("request_approval", {**DEPLOY, "wait": False})
    prompted = await room.tool("permission_prompt", {"tool_name": "Bash", "input": {}})
    status = await room.tool("approval_status", {"permission_id": "none"})

    assert all(is_error(said) for said in (asked, at_once, status))
    assert json.loads(text(prompted))["behavior"] == "deny"
    assert "structuredContent" not in asked["result"]


# Everything that somebody could call an answer.
ANSWERS = {
    "approved": True,
    "approve": True,
    "behavior": "allow",
    "outcome": "approved",
    "decision": "allow",
    "choice": "always_allow",
    "decided_by": "slack:U0ALICE",
    "action": "accept",
}

OPENED = {"approval": {"action": "accept"}}


async def test_no_tool_can_approve(room: AskRoom) -> None:
    first = await room.tool("request_approval", {**DEPLOY, "wait": False})
    permission_id = first["result"]["structuredContent"]["permissionId"]
    listed = (await room.say(request("tools/list")))["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool["name"] for tool in TOOLS]
    ids = dict.fromkeys(("permission_id", "permissionId", "id", "request_id"), permission_id)
    known = {"tool": "deploy", "tool_name": "deploy", "input": {}, "arguments": {}, "wait": False}
    guesses = [{**ids, **ANSWERS, **known}, {**ids, **ANSWERS}, {**known, **ANSWERS}]
    for tool, guess in itertools.product(listed, guesses):
        properties = set(tool["inputSchema"]["properties"])
        assert not properties & set(ANSWERS)
        for given in (guess, {name: guess[name] for name in properties & set(guess)}):
            if tool["name"] == "permission_prompt" and {"tool_name", "input"} <= set(given):
                continue  # it would wait, as request_approval does
            await room.tool(tool["name"], given)
            await room.tool(
                tool["name"],
                given,
                meta=modern(),
                inputResponses={"approval": {"action": "accept"}},
            )
    for name in ("approve", "deny", "allow", "respond", "settle", "decide"):
        assert (await room.tool(name, {**ids, **ANSWERS}))["error"]["code"] == -32602

    record = await room.backend.store.get(permission_id)
    assert record is not None
    assert record.ending is None


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_real_client_asks(machine: Machine, mode: str) -> None:
    async with machine.client("mcp", "--agent", "ci", mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool["name"] for tool in TOOLS]
        allowed = await client.call_tool("request_approval", {"tool": "look", "arguments": {}})
        denied = await client.call_tool("request_approval", {"tool": "explode", "arguments": {}})

    assert not allowed.is_error
    assert denied.is_error
    assert "deny rule 1" in text_of(denied)


@pytest.mark.parametrize("asked", ["2025-06-18", "2025-11-25", "2024-11-05"])
async def test_older_clients_get_the_revision_they_know_or_the_newest_of_theirs(
    room: AskRoom, asked: str
) -> None:
    said = await room.say(request("initialize", {"protocolVersion": asked, "capabilities": {}}))

    known = asked if asked != "2024-11-05" else "2025-11-25"
    assert said["result"]["protocolVersion"] == known


async def test_an_unknown_revision_is_refused_with_those_that_are_known(room: AskRoom) -> None:
    meta = {**modern(), "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    said = await room.say(request("tools/list", {"_meta": meta}))

    assert said["error"]["code"] == -32022
    assert said["error"]["data"]["supported"] == ["2026-07-28"]
