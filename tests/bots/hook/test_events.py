"""Events of Claude Code's hooks are read strictly, and answers have its form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sayso_bots.hook.agents import CLAUDE_CODE, CODEX, Reply
from sayso_bots.hook.events import allowed, denied, is_answer, read_event
from sayso_bots.strict_json import MalformedMessageError

EVENT = {
    "session_id": "s-1",
    "transcript_path": "/home/me/t.jsonl",
    "cwd": "/work/shop",
    "prompt_id": "p-1",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls", "timeout": 2**60},
    "tool_use_id": "toolu_1",
}


def event(**other: Any) -> str:
    return json.dumps({**EVENT, **other})


def test_an_event_is_read() -> None:
    read = read_event(event(agent_id="a1", agent_type="reviewer"), CLAUDE_CODE)

    assert (read.name, read.session, read.prompt) == ("PreToolUse", "s-1", "p-1")
    assert (read.tool, read.arguments) == ("Bash", EVENT["tool_input"])
    assert (read.call_id, read.path) == ("toolu_1", ("reviewer",))
    assert read.description == "Claude Code, permission mode default"


def test_what_is_only_told_may_be_missing() -> None:
    names = ("hook_event_name", "session_id", "tool_name", "tool_input")
    read = read_event(json.dumps({name: EVENT[name] for name in names}), CLAUDE_CODE)

    assert (read.call_id, read.prompt, read.path) == ("", "", ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '{"hook_event_name": NaN}',
        "[" * 100_000,
        event(hook_event_name="PostToolUse"),
        event(hook_event_name=["PreToolUse"]),
        event(session_id=""),
        event(session_id=7),
        event(tool_name=" "),
        event(tool_input="ls"),
        event(tool_input=None),
        event(session_id="s\ud800"),
        event(tool_use_id="\udfff"),
        event(tool_input={"command": "ls\ud800"}),
        event().replace('"tool_name": "Bash"', '"tool_name": "Read", "tool_name": "Bash"'),
        event().replace('"command": "ls"', '"command": "rm -rf /", "command": "ls"'),
    ],
    ids=range(18),
)
def test_anything_else_is_no_event(text: str) -> None:
    with pytest.raises(MalformedMessageError):
        read_event(text, CLAUDE_CODE)


@pytest.mark.parametrize("name", CLAUDE_CODE.events)
def test_an_answer_is_one_to_its_event_only(name: str) -> None:
    (other,) = set(CLAUDE_CODE.events) - {name}

    for answer in (
        allowed(name, "yes"),
        allowed(name, "yes", {"a": 1}, "told"),
        denied(name, "no"),
    ):
        assert is_answer(answer, name)
        assert not is_answer(answer, other)
    for nonsense in (None, "allow", {}, {"hookSpecificOutput": {"hookEventName": name}}):
        assert not is_answer(nonsense, name)


def test_answers_have_the_form_of_their_event() -> None:
    before = allowed("PreToolUse", "Alice said so", {"command": "pwd"}, "changed")
    asked = allowed("PermissionRequest", "Alice said so", {"command": "pwd"}, "changed")

    assert before["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": "Alice said so",
        "updatedInput": {"command": "pwd"},
        "additionalContext": "changed",
    }
    assert asked["hookSpecificOutput"]["decision"] == {
        "behavior": "allow",
        "updatedInput": {"command": "pwd"},
    }
    assert "updatedInput" not in str(allowed("PreToolUse", "yes"))
    assert denied("PermissionRequest", "no")["hookSpecificOutput"]["decision"] == {
        "behavior": "deny",
        "message": "no",
    }


@pytest.mark.parametrize("reason", ["", " \n", "\ud800"])
def test_a_denial_has_words_that_any_agent_can_read(reason: str) -> None:
    """Codex runs the tool where there are none."""
    said = denied("PreToolUse", reason)["hookSpecificOutput"]["permissionDecisionReason"]

    assert said.strip()
    assert said.encode()


def test_codex_is_denied_by_an_exit_code_and_told_nothing_of_a_yes() -> None:
    """What its login shell prints before an answer makes it no answer, and the tool runs."""
    no, changed = denied("PreToolUse", "no"), allowed("PreToolUse", "yes", {"command": "pwd"})

    assert CODEX.reply(allowed("PreToolUse", "yes")) == Reply({})
    assert CODEX.reply(no) == Reply(None, "no")
    assert CODEX.reply(changed) == Reply(changed)
    assert CLAUDE_CODE.reply(no) == Reply(no)
    assert not is_answer({}, "PreToolUse")


def test_an_event_of_codex_is_read() -> None:
    text = event(turn_id="t-1", prompt_id=None, model="gpt", tool_use_id="call_1")
    read = read_event(text, CODEX)

    assert (read.call_id, read.prompt) == ("call_1", "t-1")
    assert read.description.startswith("Codex, permission mode")
    with pytest.raises(MalformedMessageError):
        read_event(event(hook_event_name="PermissionRequest"), CODEX)
