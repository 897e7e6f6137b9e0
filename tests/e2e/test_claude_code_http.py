"""The real Claude Code, its HTTP hook, ``sayso hook serve``, ``sayso serve``, Redis and Slack.

Claude Code itself is told to run every command without asking: what does not stop it lets it run.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from e2e.hands import SlackHands
from support.claude_code import ClaudeCode, claude_command
from support.claude_world import World, hands, installed, world
from support.hook_server import TOKEN, HookServer, hook_server
from support.hooked import Machine

__all__ = ["hands", "world"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class OverHttp:
    """Claude Code whose HTTP hook is answered by a server."""

    claude: ClaudeCode
    server: HookServer


@pytest_asyncio.fixture(loop_scope="module")
async def over_http(world: World, tmp_path: Path) -> AsyncIterator[OverHttp]:
    async with installed(world, tmp_path) as claude:
        env = {**claude.env, "SAYSO_CONFIG": str(claude.config)}
        async with hook_server(Machine(tmp_path, env)) as server:
            path = f"{claude_command().parent}{os.pathsep}{claude.env['PATH']}"
            claude.env = {**claude.env, "PATH": path, "SAYSO_HOOK_TOKEN": TOKEN}
            await claude.install("--http", "--listen", server.address, config=False)
            yield OverHttp(claude, server)


async def test_a_person_decides_and_the_card_says_how_it_went(
    over_http: OverHttp, hands: SlackHands
) -> None:
    claude = over_http.claude
    turns = ([claude.writes("one")], [claude.writes("two", "toolu_2")])
    working = asyncio.create_task(claude.work(*turns))
    card = await hands.card()
    await hands.press("Allow")
    await hands.ended("· ran")
    await hands.fill_in("Deny with a reason…", {"Reason": "Not on a Friday"})
    results = await working

    assert "echo one >> ran" in card
    assert card.count(str(claude.project)) == 1
    assert claude.ran == ["one"]
    assert "Not on a Friday" in results["toolu_2"]


async def test_the_edited_call_runs(over_http: OverHttp, hands: SlackHands) -> None:
    claude = over_http.claude
    working = asyncio.create_task(claude.work([claude.writes("one")]))
    edited = {"command": "echo two >> ran", "description": "a test"}
    await hands.fill_in("Edit arguments…", {"Arguments": json.dumps(edited)})
    await working

    assert claude.ran == ["two"]


async def test_a_run_that_is_killed_takes_its_card_back(
    over_http: OverHttp, hands: SlackHands
) -> None:
    claude = over_http.claude
    claude.model.plays([claude.writes("one")])
    process = await claude.start()
    await hands.card()
    process.kill()
    await claude.ended(process)

    await hands.ended("Cancelled")
    assert claude.ran == []


async def test_nothing_runs_without_the_server_or_the_token(
    over_http: OverHttp, hands: SlackHands
) -> None:
    claude = over_http.claude
    claude.env = {**claude.env, "SAYSO_HOOK_TOKEN": f"{TOKEN}-of-another"}
    stranger = await claude.work([claude.writes("one")])
    claude.env = {**claude.env, "SAYSO_HOOK_TOKEN": TOKEN}
    working = asyncio.create_task(claude.work([claude.writes("two", "toolu_2")]))
    await hands.card()
    await over_http.server.stop()
    stopped = await working
    away = await claude.work([claude.writes("three", "toolu_3")])

    assert claude.ran == []
    assert "401" in stranger["toolu_1"]
    assert "hook error" in stopped["toolu_2"]
    assert "hook error" in away["toolu_3"]


async def test_another_program_on_the_port_that_gives_no_decision_lets_calls_run(
    over_http: OverHttp,
) -> None:
    """What is left, as the page says: this is Claude Code's answer to a 2xx without a decision."""
    claude = over_http.claude
    await over_http.server.stop()

    async def say_nothing(_: web.Request) -> web.Response:
        return web.json_response({})

    app = web.Application()
    app.router.add_post("/{any:.*}", say_nothing)
    host, _, port = over_http.server.address.rpartition(":")
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, int(port)).start()
        await claude.work([claude.writes("one")])
    finally:
        await runner.cleanup()

    assert claude.ran == ["one"]
