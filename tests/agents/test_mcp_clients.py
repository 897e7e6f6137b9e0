"""The protocol's own package as it was at each older revision, before and behind the proxy."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.frameworks import interpreter
from support.mcp_fixture import machine
from support.mcp_machine import Machine
from support.mcp_room import ALICE, open_question
from support.mcp_serving import served

from sayso.testing.builders import PATIENCE_SECONDS

__all__ = ["machine"]

CLIENT = Path(__file__).parent / "mcp" / "client.py"
REVISIONS = {"2025-06-18": "mcp", "2025-11-25": "crewai"}
"""The newest revision that the package in an environment speaks."""
EACH = pytest.mark.parametrize(("revision", "environment"), REVISIONS.items())


@asynccontextmanager
async def client(
    machine: Machine, environment: str, *words: str
) -> AsyncIterator[asyncio.StreamReader]:
    """What the client says, while the block runs."""
    with (machine.folder / "client.err").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(str(interpreter(environment)), str(CLIENT), *words),
            env=dict(machine.env),
            cwd=machine.folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    try:
        yield process.stdout
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def said_by(out: asyncio.StreamReader) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return json.loads(await out.readline())


async def decide(machine: Machine, *, approved: bool) -> None:
    asked = await open_question(machine.backend)
    give = asked.approve if approved else asked.deny
    answer = give(by=ALICE, at=datetime.now(UTC), reason="" if approved else "Not there")
    await machine.backend.store.settle(asked.permission_id, answer)


async def the_client_calls(machine: Machine, revision: str, out: asyncio.StreamReader) -> None:
    """Each of its calls ends as it must, and only what was approved has run, as it was made."""
    began = await said_by(out)
    assert began == {"revision": revision, "tools": ["write", "look", "explode"]}
    allowed, denied = await said_by(out), await said_by(out)
    assert (allowed["is_error"], allowed["text"]) == (False, "look ran with {}")
    assert denied["is_error"]
    assert "deny rule 1" in denied["text"]

    await decide(machine, approved=True)
    yes = await said_by(out)
    assert not yes["is_error"]
    assert yes["heard"] == ["Waiting for an answer in chat: write"]
    await decide(machine, approved=False)
    no = await said_by(out)
    assert no["is_error"]
    assert "Not there" in no["text"]

    assert [(one["name"], one["arguments"]) for one in machine.ran] == [
        ("look", {}),
        ("write", {"path": "/srv/ä"}),
    ]


@EACH
async def test_the_package_of_a_revision_calls_through_the_proxy(
    machine: Machine, revision: str, environment: str
) -> None:
    command = (sys.executable, "-m", "sayso_bots", *machine.proxied())
    async with client(machine, environment, "stdio", *command) as out:
        await the_client_calls(machine, revision, out)


@EACH
async def test_the_package_of_a_revision_calls_through_the_proxy_over_http(
    machine: Machine, revision: str, environment: str
) -> None:
    async with (
        served(machine, *machine.proxied()) as proxy,
        client(machine, environment, "http", proxy.url) as out,
    ):
        await the_client_calls(machine, revision, out)
