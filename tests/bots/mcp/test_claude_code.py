"""The real Claude Code asks by the tool that it is told to ask by, and through the proxy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.claude_code import ClaudeCode, claude_code
from support.claude_model import calls, model_served
from support.mcp_machine import Machine
from support.mcp_room import ALICE, open_question

from sayso_bots.hook.settings_file import this_command


@pytest.fixture
async def claude(machine: Machine, tmp_path: Path) -> AsyncIterator[ClaudeCode]:
    folder = tmp_path / "claude"
    folder.mkdir()
    env = {name: value for name, value in machine.env.items() if name.startswith("SAYSO")}
    async with model_served() as model:
        yield claude_code(folder, model, env)


def configured(claude: ClaudeCode, name: str, *words: str) -> tuple[str, ...]:
    """The options by which it starts one of our commands as a server."""
    command, *rest = (*this_command(), *words)
    servers: Mapping[str, Any] = {name: {"command": command, "args": rest}}
    config = claude.project.parent / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    return ("--mcp-config", str(config), "--strict-mcp-config")


async def decide(machine: Machine, *, approved: bool = True, **how: Any) -> None:
    asked = await open_question(machine.backend)
    give = asked.approve if approved else asked.deny
    answer = give(by=ALICE, at=datetime.now(UTC), **how)
    await machine.backend.store.settle(asked.permission_id, answer)


async def test_what_it_would_ask_for_is_asked_in_chat(claude: ClaudeCode, machine: Machine) -> None:
    options = (
        *configured(claude, "sayso", "mcp", "--agent", "claude-code"),
        *("--permission-prompt-tool", "mcp__sayso__permission_prompt"),
    )
    turns = ([claude.writes("one")], [claude.writes("two", "toolu_2")], [claude.writes("x", "t3")])
    working = asyncio.create_task(claude.work(*turns, options=options))
    await decide(machine)
    await decide(machine, approved=False, reason="Not on a Friday")
    edited = {"command": "echo three >> ran", "description": "a test"}
    await decide(machine, modified_arguments=edited)
    results = await working

    assert claude.ran == ["one", "three"]
    assert "Not on a Friday" in results["toolu_2"]


async def test_the_tools_of_a_server_behind_the_proxy_are_asked_about(
    claude: ClaudeCode, machine: Machine
) -> None:
    options = (
        *configured(claude, "files", *machine.proxied()),
        *("--allowedTools", "mcp__files"),
    )
    use = calls("mcp__files__write", "toolu_1", path="/srv/a")
    again = calls("mcp__files__write", "toolu_2", path="/srv/b")
    working = asyncio.create_task(claude.work([use], [again], options=options))
    await decide(machine)
    await decide(machine, approved=False, reason="Not on a Friday")
    results = await working

    assert [one["arguments"] for one in machine.ran] == [{"path": "/srv/a"}]
    assert "write ran" in results["toolu_1"]
    assert "Not on a Friday" in results["toolu_2"]
