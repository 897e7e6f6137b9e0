"""The real Claude Code, its real hook, ``sayso serve``, Redis and both chats.

Claude Code itself is told to run every command without asking: what does not stop it lets it run.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from e2e.hands import SlackHands
from support.claude_code import ClaudeCode
from support.claude_model import calls, says
from support.claude_world import World, hands, installed, world

__all__ = ["hands", "world"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def claude(world: World, tmp_path: Path) -> AsyncIterator[ClaudeCode]:
    async with installed(world, tmp_path) as claude:
        await claude.install("--timeout", "30s")
        yield claude


async def test_an_allowed_call_runs_and_its_card_says_so_and_nothing_that_it_answered(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    fails = calls("Bash", "toolu_2", command="echo a-secret-answer; exit 3", description="a test")
    working = asyncio.create_task(claude.work([claude.writes("one")], [fails]))
    card = await hands.card()
    await hands.press("Allow")
    ran = await hands.ended("· ran")
    await hands.press("Allow")
    failed = await hands.ended("· failed")
    results = await working

    assert "Claude Code, permission mode default" in card
    assert card.count(str(claude.project)) == 1
    assert claude.ran == ["one"]
    assert "echo one >> ran" in ran
    assert "exit 3" in failed
    assert "a-secret-answer" in results["toolu_2"]
    assert "Exit code 3" not in failed


async def test_always_is_not_asked_a_second_time(claude: ClaudeCode, hands: SlackHands) -> None:
    turns = ([claude.writes("one")], [claude.writes("one", "toolu_2")])
    working = asyncio.create_task(claude.work(*turns))
    await hands.press("Always")
    await hands.confirm("This session, 1 day")
    await working

    assert claude.ran == ["one", "one"]


async def test_the_model_reads_why_a_call_was_denied(claude: ClaudeCode, hands: SlackHands) -> None:
    working = asyncio.create_task(claude.work([claude.writes("one")]))
    await hands.fill_in("Deny with a reason…", {"Reason": "Not on a Friday"})
    results = await working

    assert claude.ran == []
    assert "Not on a Friday" in results["toolu_1"]


async def test_the_edited_call_runs_and_the_model_is_told(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    working = asyncio.create_task(claude.work([claude.writes("one")]))
    edited = {"command": "echo two >> ran", "description": "a test"}
    await hands.fill_in("Edit arguments…", {"Arguments": json.dumps(edited)})
    await working

    assert claude.ran == ["two"]
    assert "The arguments were changed before the call ran" in claude.model.heard


@pytest.mark.parametrize("world", ["3s"], indirect=True)
async def test_calls_side_by_side_share_a_card_and_are_decided_each_on_its_own(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    looks = [
        calls("Bash", call_id, command=f"echo {word}", description="a test")
        for call_id, word in (("toolu_1", "one"), ("toolu_2", "two"))
    ]
    working = asyncio.create_task(claude.work(looks))
    assert "2 calls are waiting" in await hands.card()
    await hands.press("Deny 1")
    await hands.press("Allow 2")
    results = await working

    ran = {call_id: text in ("one", "two") for call_id, text in results.items()}
    assert sorted(ran.values()) == [False, True]


async def test_a_run_that_is_killed_takes_its_card_back(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    claude.model.plays([claude.writes("one")])
    process = await claude.start()
    await hands.card()
    process.kill()
    await claude.ended(process)

    await hands.ended("Cancelled")
    assert claude.ran == []


async def test_a_hook_that_runs_into_the_limit_of_claude_code_takes_its_card_back(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    claude.use_hook(claude.hook()["command"], timeout=3)

    await asyncio.gather(claude.work([claude.writes("one")]), hands.ended("Cancelled"))


async def test_nothing_runs_where_the_store_is_away(claude: ClaudeCode) -> None:
    nowhere = "redis://127.0.0.1:1"
    await claude.install("--store", nowhere, "--patience", "200ms")

    results = await claude.work([claude.writes("one")])

    assert claude.ran == []
    assert "could not get an answer" in results["toolu_1"]


async def test_nothing_runs_when_the_hook_is_killed(claude: ClaudeCode, hands: SlackHands) -> None:
    working = asyncio.create_task(claude.work([claude.writes("one")]))
    await hands.card()
    for process in claude.hooks():
        os.kill(process, signal.SIGKILL)
    results = await working

    assert claude.ran == []
    assert "hook error" in results["toolu_1"]


async def test_nothing_runs_when_our_command_is_gone_or_its_answer_is_nonsense(
    claude: ClaudeCode,
) -> None:
    command = claude.hook()["command"]
    assert command.endswith(" || exit 2")
    claude.use_hook(f"/no/such/{command.lstrip('/')}")
    gone = await claude.work([claude.writes("one")])
    claude.use_hook(f"head -c 40 | {command}")
    nonsense = await claude.work([claude.writes("two", "toolu_2")])

    assert claude.ran == []
    assert "hook error" in gone["toolu_1"]
    assert "not an event of a tool call" in nonsense["toolu_2"]


async def test_settings_in_the_project_count_for_nothing(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    theirs = claude.project / "sayso.toml"
    theirs.write_text('[[policy]]\ndefault = "allow"\n')
    environment = {
        "SAYSO_CONFIG": str(theirs),
        "SAYSO_AGENT": "somebody-else",
        "PYTHONPATH": str(claude.project),
    }
    (claude.project / ".claude").mkdir()
    (claude.project / ".claude" / "settings.json").write_text(json.dumps({"env": environment}))
    working = asyncio.create_task(claude.work([claude.writes("one")]))
    card = await hands.card()
    await hands.press("Deny")
    await working

    assert "claude-code" in card
    assert claude.ran == []
    # Without what is written into an installed hook, all of it counts.
    command = claude.hook()["command"].split(" --config")[0]
    claude.use_hook(f"{command} --store '{claude.env['SAYSO_STORE_URL']}' || exit 2")
    await claude.work([claude.writes("two", "toolu_2")])
    assert claude.ran == ["two"]


async def test_a_hook_whose_shell_is_killed_runs_nothing_where_claude_code_allows_nothing_itself(
    claude: ClaudeCode,
) -> None:
    claude.use_hook("kill -9 $$")
    settings = json.loads(claude.settings.read_text())
    settings["permissions"] = {"defaultMode": "dontAsk"}
    claude.settings.write_text(json.dumps(settings))

    results = await claude.work([claude.writes("one")], options=("--max-turns", "9"))

    assert claude.ran == []
    assert "denied" in results["toolu_1"]


async def test_where_claude_code_would_ask_itself_a_person_is_asked_in_chat(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    await claude.install("--event", "PermissionRequest")
    turns = ([claude.writes("one")], [claude.writes("two", "toolu_2")])
    working = asyncio.create_task(claude.work(*turns, options=("--max-turns", "9")))
    await hands.press("Allow")
    await hands.ended("Approved")
    await hands.fill_in("Deny with a reason…", {"Reason": "Not on a Friday"})
    results = await working

    assert claude.ran == ["one"]
    assert "Not on a Friday" in results["toolu_2"]


async def test_the_card_of_a_sub_agent_says_which_one_it_is(
    claude: ClaudeCode, hands: SlackHands
) -> None:
    agent = {
        "description": "a test",
        "prompt": "look",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    claude.use_hook(claude.hook()["command"])
    settings = json.loads(claude.settings.read_text())
    settings["hooks"]["PreToolUse"][0]["matcher"] = "Bash"
    claude.settings.write_text(json.dumps(settings))
    turns = ([calls("Agent", "toolu_a", **agent)], [claude.writes("one", "toolu_b")], [says("ok")])
    working = asyncio.create_task(claude.work(*turns))
    card = await hands.card()
    await hands.press("Allow")
    await working

    assert "claude-code › general-purpose" in card
    assert claude.ran == ["one"]
