"""A proxy that ends, however it ends: cards are taken back, and nothing runs that was not asked."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from support.commands import Run, start_command
from support.mcp_machine import Machine
from support.mcp_room import call, open_question, request

from sayso.testing.builders import PATIENCE_SECONDS


class Spoken:
    """A command of ours, spoken to line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def say(self, message: Mapping[str, Any] | bytes) -> None:
        """Write a line to it."""
        assert self.process.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def hear(self) -> Any:
        """The next line from it, None at its end."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            line = await self.process.stdout.readline()
        return json.loads(line) if line else None

    async def ended(self) -> int:
        """Its exit code, when it has ended."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def spoken(machine: Machine, *words: str) -> AsyncIterator[Spoken]:
    """A command that does not outlive the block."""
    with (machine.folder / "stderr").open("a") as errors:
        process = await start_command(
            *words,
            env=dict(machine.env),
            cwd=machine.folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
        try:
            yield Spoken(process)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


BEGIN = request(
    "initialize",
    {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "hand-written", "version": "1"},
    },
)


async def test_a_client_of_2025_06_18_is_served_as_well(machine: Machine) -> None:
    async with spoken(machine, *machine.proxied()) as proxy:
        await proxy.say(BEGIN)
        assert (await proxy.hear())["result"]["protocolVersion"] == "2025-06-18"
        await proxy.say(call("look", 2))
        assert (await proxy.hear())["result"]["content"][0]["text"].startswith("look ran")
        await proxy.say(call("write", 3))
        asked = await open_question(machine.backend)
        assert "hand-written calls a tool of the MCP server files" in asked.description
        await proxy.say(b"[" + json.dumps(call("explode", 4)).encode() + b"]")
        assert (await proxy.hear())["error"]["code"] == -32600

    assert [one["name"] for one in machine.ran] == ["look"]


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
async def test_a_proxy_that_is_stopped_takes_its_card_back(machine: Machine, how: str) -> None:
    async with spoken(machine, *machine.proxied()) as proxy:
        await proxy.say(call("write", 3))
        asked = await open_question(machine.backend)
        if how == "end of input":
            assert proxy.process.stdin is not None
            proxy.process.stdin.close()
        else:
            proxy.process.send_signal(getattr(signal, how))
        await proxy.ended()

    record = await machine.backend.store.get(asked.permission_id)
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome.value == "cancelled"
    assert machine.ran == []


async def test_a_proxy_that_is_killed_runs_nothing_and_the_next_one_finds_its_card(
    machine: Machine,
) -> None:
    async with spoken(machine, *machine.proxied()) as killed:
        await killed.say(call("write", 3))
        asked = await open_question(machine.backend)
        killed.process.kill()
        await killed.ended()
    answer = asked.approve(by="slack:U0ALICE")
    await machine.backend.store.settle(asked.permission_id, answer)
    async with spoken(machine, *machine.proxied()) as later:
        await asyncio.sleep(0)
        assert machine.ran == []
        await later.say(call("write", 1))
        assert (await later.hear())["result"]["content"][0]["text"].startswith("write ran")
        await later.say(call("write", 2))
        assert (await open_question(machine.backend)).permission_id != asked.permission_id

    assert len(machine.ran) == 1


async def test_a_server_that_ends_ends_its_proxy(machine: Machine) -> None:
    words = ("mcp-proxy", "--", sys.executable, "-c", "pass")
    async with spoken(machine, *words) as proxy:
        assert await proxy.ended() == 1


async def test_a_server_that_ends_at_once_is_said_in_a_line(machine: Machine) -> None:
    words = ("mcp-proxy", "--", "sh", "-c", "sleep 0.1; exit 3")
    async with spoken(machine, *words) as proxy:
        # It ends while more is written to it than it takes.
        with suppress(ConnectionError):
            await proxy.say(request("tools/list", {"cursor": "x" * 4_000_000}))
        assert await proxy.ended() == 1

    lines = (machine.folder / "stderr").read_text().splitlines()
    assert lines == ["sayso: the server has ended, with code 3"]


@pytest.mark.parametrize("url", ["wiki", "mcp.example.com/mcp", "ftp://h/", "http://", "http://["])
def test_what_is_no_address_of_a_server_is_said_at_once(url: str, run: Run) -> None:
    done = run("mcp-proxy", "--url", url, env={"SAYSO_STORE_URL": "redis://127.0.0.1:6379/0"})

    assert done.code == 2
    assert "write https://HOST/PATH" in done.err


async def test_a_server_that_cannot_be_started_is_said_at_once(machine: Machine) -> None:
    async with spoken(machine, "mcp-proxy", "--", "/no/such/server") as proxy:
        assert await proxy.ended() == 2

    said = (machine.folder / "stderr").read_text()
    assert said == (
        "sayso: the server cannot be started: /no/such/server: No such file or directory\n"
    )


async def test_a_server_knows_nothing_of_our_store(machine: Machine) -> None:
    words = ("mcp-proxy", "--", "sh", "-c", f"env > {machine.folder}/env; cat")
    async with spoken(machine, *words) as proxy:
        assert proxy.process.stdin is not None
        proxy.process.stdin.close()
        await proxy.ended()

    told = (machine.folder / "env").read_text()
    assert "PATH=" in told
    assert "SAYSO" not in told
    assert os.environ["PATH"] in told
