"""A server at an address behind the proxy, and the real client before it."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import pytest
from support.mcp_machine import Machine, text
from support.mcp_room import ALICE, open_question
from support.mcp_web import web_server
from support.ports import free_port

from sayso_bots.mcp.messages import read
from sayso_bots.mcp.web import ToolHeaders, decoded, encoded, headers_of

MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


async def decide(machine: Machine, **how: object) -> None:
    asked = await open_question(machine.backend)
    answer = asked.approve(by=ALICE, at=datetime.now(UTC), **how)  # type: ignore[arg-type]
    await machine.backend.store.settle(asked.permission_id, answer)


@MODES
async def test_a_call_at_an_address_is_asked_about_and_carries_its_headers(
    machine: Machine, mode: str
) -> None:
    async with web_server() as web:
        words = ("mcp-proxy", "--agent", "wiki", "--url", web.url)
        async with machine.client(*words, mode=mode) as client:
            assert (await client.list_tools()).tools[0].name == "write"
            looked = await client.call_tool("look", {})
            assert (looked.is_error, text(looked)) == (False, "looked")
            wrote, _ = await asyncio.gather(
                client.call_tool("write", {"path": "/ä", "region": "us"}), decide(machine)
            )
            assert (wrote.is_error, text(wrote)) == (False, "wrote /ä")
            edited = {"path": "/b", "region": "ap"}
            await asyncio.gather(
                client.call_tool("write", {"path": "/a", "region": "us"}),
                decide(machine, modified_arguments=edited),
            )

    assert web.ran == [
        ("look", {}),
        ("write", {"path": "/ä", "region": "us"}),
        ("write", {"path": "/b", "region": "ap"}),
    ]
    headers, body = web.calls[-1]
    assert json.loads(body)["params"]["arguments"] == edited
    if mode != "legacy":
        assert headers["mcp-method"] == "tools/call"
        assert headers["mcp-name"] == "write"
        assert headers["mcp-param-region"] == "ap"


async def test_an_address_that_does_not_answer_is_said(machine: Machine) -> None:
    url = f"http://127.0.0.1:{free_port()}/mcp"
    async with machine.client("mcp-proxy", "--url", url, mode="2026-07-28") as client:
        said = await client.call_tool("look", {})

    assert said.is_error
    assert "whether the call ran is not known" in text(said)


async def test_the_value_of_a_header_comes_from_a_variable(machine: Machine) -> None:
    words = ("--header", "Authorization=WIKI_TOKEN")
    async with web_server() as web:
        env = {**machine.env, "WIKI_TOKEN": "Bearer of-this-test"}
        named = Machine(machine.folder, env, machine.backend)
        proxy = ("mcp-proxy", "--url", web.url, *words)
        async with named.client(*proxy, mode="2026-07-28") as client:
            await client.call_tool("look", {})

    assert {headers["authorization"] for headers, _ in web.calls} == {"Bearer of-this-test"}


@pytest.mark.parametrize("name", ["write", "schreib ä", " a", "=?base64?YQ==?=", "a\nb"])
def test_a_name_in_a_header_is_read_as_it_was(name: str) -> None:
    message = read(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {
                    "name": name,
                    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
                },
            }
        ).encode()
    )

    header = headers_of(message)["Mcp-Name"]
    assert header.isascii()
    assert header.isprintable()
    assert decoded(header) == name == decoded(encoded(name))


def test_headers_of_arguments_are_those_of_the_very_call() -> None:
    schema = {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"on": {"x-mcp-header": "On"}}},
            "bad": {"x-mcp-header": "no\r\nheader"},
        },
    }
    tools = ToolHeaders()
    tools.learn(json.dumps({"result": {"tools": [{"name": "w", "inputSchema": schema}]}}).encode())
    params = {"name": "w", "arguments": {"region": "eu", "deep": {"on": True}, "bad": "x"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    assert tools.of(read(json.dumps(message).encode())) == {
        "Mcp-Param-Region": "eu",
        "Mcp-Param-On": "true",
    }
