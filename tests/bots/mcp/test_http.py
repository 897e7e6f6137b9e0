"""Clients over HTTP, in each revision: the real client, and what it would never send."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from datetime import UTC, datetime

import aiohttp
import pytest
from mcp import Client
from support.commands import Run, start_command
from support.mcp_machine import Machine, text
from support.mcp_room import ALICE, call, modern, open_question
from support.mcp_serving import served
from support.mcp_web import web_server

from sayso.testing.builders import PATIENCE_SECONDS

MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


async def decide(machine: Machine) -> None:
    asked = await open_question(machine.backend)
    answer = asked.approve(by=ALICE, at=datetime.now(UTC))
    await machine.backend.store.settle(asked.permission_id, answer)


@MODES
async def test_the_real_client_calls_over_http_before_a_process(
    machine: Machine, mode: str
) -> None:
    news: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        news.append(message or "")

    async with served(machine, *machine.proxied()) as proxy, Client(proxy.url, mode=mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"write", "look"}
        said = await client.call_tool("explode", {})
        assert said.is_error
        wrote, _ = await asyncio.gather(
            client.call_tool("write", {"path": "/srv"}, progress_callback=hear), decide(machine)
        )
        assert not wrote.is_error

    assert [one["name"] for one in machine.ran] == ["write"]
    assert set(news) == {"Waiting for an answer in chat: write"}


@MODES
async def test_the_real_client_calls_over_http_before_an_address(
    machine: Machine, mode: str
) -> None:
    async with web_server() as web:
        words = ("mcp-proxy", "--agent", "wiki", "--url", web.url)
        async with served(machine, *words) as proxy, Client(proxy.url, mode=mode) as client:
            looked = await client.call_tool("look", {})
            wrote, _ = await asyncio.gather(
                client.call_tool("write", {"path": "/srv"}), decide(machine)
            )

    assert (text(looked), text(wrote)) == ("looked", "wrote /srv")


async def test_two_clients_with_the_same_ids_get_each_their_own_answers(machine: Machine) -> None:
    async with served(machine, *machine.proxied()) as proxy:
        arguments = [{"number": number} for number in range(8)]
        said = await asyncio.gather(
            *(proxy.post(call("look", 1, arguments=one, meta=modern())) for one in arguments)
        )

    assert [answer["id"] for _, answer in said] == [1] * 8
    texts = [answer["result"]["content"][0]["text"] for _, answer in said]
    assert texts == [f"look ran with {json.dumps(one)}" for one in arguments]


async def test_after_a_restart_of_the_proxy_an_older_client_finds_its_card(
    machine: Machine,
) -> None:
    async with served(machine, *machine.proxied()) as proxy:
        session = await proxy.begin()
        lost = asyncio.create_task(proxy.post(call(), session))
        asked = await open_question(machine.backend)
        proxy.process.send_signal(signal.SIGTERM)
        await proxy.process.wait()
        with suppress(aiohttp.ClientError):
            await lost
    async with served(machine, *machine.proxied()) as proxy:
        again = asyncio.create_task(proxy.post(call(), await proxy.begin()))
        await decide(machine)
        _, said = await again

    assert said["result"]["content"][0]["text"].startswith("write ran")
    record = await machine.backend.store.get(asked.permission_id)
    assert record is not None
    assert record.use is not None
    assert len(machine.ran) == 1


async def test_a_newer_client_that_leaves_withdraws_its_call(machine: Machine) -> None:
    async with served(machine, *machine.proxied()) as proxy:
        leaving = asyncio.create_task(proxy.post(call(meta=modern())))
        asked = await open_question(machine.backend)
        leaving.cancel()
        await asyncio.wait({leaving})
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await machine.backend.store.list_requests():
                await asyncio.sleep(0.02)

    record = await machine.backend.store.get(asked.permission_id)
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome.value == "cancelled"
    assert machine.ran == []


WRONG = {
    "another method": {"Mcp-Method": "tools/list"},
    "another tool": {"Mcp-Name": "look"},
    "another revision": {"MCP-Protocol-Version": "2025-11-25"},
}


@pytest.mark.parametrize("headers", WRONG.values(), ids=WRONG)
async def test_headers_that_say_something_else_than_the_body_are_refused(
    machine: Machine, headers: dict[str, str]
) -> None:
    async with served(machine, *machine.proxied()) as proxy:
        status, said = await proxy.post(call(meta=modern()), headers)

    assert (status, said["error"]["code"]) == (400, -32020)
    assert machine.read == []


async def test_pages_of_a_browser_and_clients_without_the_token_are_kept_out(
    machine: Machine,
) -> None:
    token = "of-this-test-and-of-no-other-one-at-all"
    bearer = {"Authorization": f"Bearer {token}"}
    async with served(machine, *machine.proxied(), SAYSO_MCP_TOKEN=token) as proxy:
        statuses = [
            (await proxy.post(call("look", meta=modern()), headers))[0]
            for headers in (
                {},
                {"Authorization": "Bearer another"},
                {**bearer, "Origin": "https://evil.example"},
                {**bearer, "Host": "evil.example"},
                {**bearer, "Origin": "http://localhost:3000"},
            )
        ]

    assert statuses == [401, 401, 403, 403, 200]
    assert len(machine.ran) == 1


async def test_other_machines_are_let_in_with_a_token_only(machine: Machine) -> None:
    process = await start_command(
        *("mcp", "--listen", "0.0.0.0:0"),
        env=dict(machine.env),
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()

    assert process.returncode == 2
    assert "SAYSO_MCP_TOKEN" in err.decode()


def test_a_server_that_is_not_there_is_said_before_any_client_comes(run: Run) -> None:
    words = ("mcp-proxy", "--listen", "127.0.0.1:0", "--", "/no/such/server")
    done = run(*words, env={"SAYSO_STORE_URL": "redis://127.0.0.1:6379/0", "PATH": "/usr/bin"})

    assert done.code == 2
    assert "there is no command /no/such/server" in done.err


async def test_who_comes_under_a_name_that_is_not_known_reads_how_to_name_it(
    machine: Machine,
) -> None:
    async with (
        served(machine, *machine.proxied()) as proxy,
        aiohttp.ClientSession() as session,
        session.post(proxy.url, data=b"{}", headers={"Host": "laptop.example"}) as response,
    ):
        assert response.status == 403
        assert "--name" in await response.text()


async def test_our_own_server_is_served_over_http_too(machine: Machine) -> None:
    async with served(machine, "mcp", "--agent", "ci") as own, Client(own.url) as client:
        said, _ = await asyncio.gather(
            client.call_tool("request_approval", {"tool": "deploy", "arguments": {"to": "eu"}}),
            decide(machine),
        )

    assert not said.is_error
    assert 'exactly these arguments: {"to":"eu"}' in text(said)
