"""What the protocol's command line asks for coding agents: with the preset, people see the rest."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from support.aap_room import AapRoom, aap_room
from support.aap_world import Answer

from sayso.policy.server_policy import Section, ServerPolicy
from sayso.policy.written import PlacedRule, WrittenPolicy
from sayso.rules.rule import Rule

# As the adapters of the command line name the tools of their agents.
READS: list[tuple[str, str, dict[str, Any]]] = [
    ("claude-code", "Read", {"file_path": "/srv/app/README.md"}),
    ("claude-code", "Grep", {"pattern": "TODO", "path": "/srv/app"}),
    ("claude-code", "Glob", {"pattern": "**/*.py"}),
    ("codex", "read_file", {"file_path": "/srv/app/README.md", "offset": 1, "limit": 200}),
    ("codex", "list_dir", {"dir_path": "/srv/app"}),
    ("pi", "read", {"path": "README.md"}),
    ("openclaw", "grep", {"pattern": "TODO"}),
    ("claude-code", "Bash", {"command": "cat README.md | head", "description": "Read it"}),
    ("claude-code", "Task", {"prompt": "look around", "subagent_type": "Explore"}),
    ("pi", "bash", {"command": "ls"}),
]
ACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("claude-code", "Bash", {"command": "cat README.md > x", "description": "Read it"}),
    ("claude-code", "Edit", {"file_path": "a", "old_string": "b", "new_string": "c"}),
    ("claude-code", "Write", {"file_path": "a", "content": "b"}),
    ("claude-code", "WebFetch", {"url": "https://example.com", "prompt": "?"}),
    ("claude-code", "ExitPlanMode", {"plan": "look around"}),
    ("codex", "exec_command", {"cmd": "ls", "workdir": "/srv/app"}),
    ("codex", "apply_patch", {"input": "*** Begin Patch\n*** End Patch"}),
    ("pi", "bash", {"command": "ls && make"}),
]
SSH = Rule("Read", {"file_path": "*/.ssh/*"})


def coding() -> ServerPolicy:
    """The preset for coding agents, and what they may not read."""
    looking = WrittenPolicy(preset="coding").looking
    return ServerPolicy([Section(looking=looking, deny=(PlacedRule(SSH),), called="policy 1")])


async def submitted(
    room: AapRoom, runtime: str, tool: str, arguments: dict[str, Any], **more: Any
) -> Answer:
    """A call as the command line submits it: it waits for a week, and says where it runs."""
    context = {"runtime": runtime, "session_id": "s-1", "cwd": "/srv/app", "call_id": uuid4().hex}
    return await room.ask(
        tool=tool, arguments=arguments, timeout="604800s", context=context, **more
    )


@pytest.mark.parametrize("call", READS, ids=lambda one: " ".join(one[:2]))
async def test_with_the_preset_a_read_is_terminal_at_creation(
    call: tuple[str, str, dict[str, Any]],
) -> None:
    async with aap_room(policy=coding()) as room:
        answer = await submitted(room, *call)

        assert (answer.status, answer.json["status"]) == (201, "approved")
        assert await room.backend.watch.pending() == []
        assert await room.backend.audit.read(10) == []


@pytest.mark.parametrize("call", ACTS, ids=lambda one: " ".join(one[:2]))
async def test_with_the_preset_everything_else_becomes_a_card(
    call: tuple[str, str, dict[str, Any]],
) -> None:
    async with aap_room(policy=coding()) as room:
        answer = await submitted(room, *call)
        (waiting,) = await room.backend.watch.pending()

    assert (answer.status, answer.json["status"]) == (201, "pending")
    assert waiting.request.question_id == answer.json["id"]


async def test_a_tool_of_a_server_is_not_the_one_of_the_agent_with_its_name() -> None:
    async with aap_room(policy=coding()) as room:
        answer = await submitted(room, "claude-code", "Read", {"file_path": "a"}, server="drive")

    assert answer.json["status"] == "pending"


async def test_what_is_denied_comes_before_the_preset() -> None:
    async with aap_room(policy=coding()) as room:
        answer = await submitted(room, "claude-code", "Read", {"file_path": "/root/.ssh/id"})

    assert answer.json["status"] == "denied"
    assert answer.json["decision"]["note"]
