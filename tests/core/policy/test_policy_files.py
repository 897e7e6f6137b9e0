"""A policy in a file: the same syntax for agents and servers, and mistakes with line and fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sayso import ConfigError, Rule, RulePolicy, RunRef, ToolCall
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.policy.policy_file import PRESETS
from sayso.policy.rule_policy import once_keys
from sayso.toml_file import SettingsError

ROOT = Path(__file__).parents[3]


async def said(policy: RulePolicy, tool: str, **arguments: Any) -> tuple[Ruling, str]:
    decision = await evaluate(policy, ToolCall(tool, arguments), PolicyContext(RunRef("a", "s")))
    assert decision is not None
    return decision.ruling, decision.line


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


async def test_a_file_says_what_a_policy_of_rules_says(file: Path) -> None:
    file.write_text(
        'preset = "coding"\nallow = [{ tool = "make" }]\ndeny = [{ tool = "drop" }]\n'
        'allow_once = [{ tool = "migrate" }]\n'
    )
    policy = RulePolicy.from_file(file)

    assert await said(policy, "make") == (Ruling.ALLOW, "allow rule 1")
    assert await said(policy, "Read") == (Ruling.ALLOW, "preset coding")
    assert await said(policy, "drop") == (Ruling.DENY, "deny rule 1")
    assert await said(policy, "migrate") == (Ruling.ALLOW, "allow-once rule 1")
    assert await said(policy, "migrate") == (Ruling.ASK, "ask")


async def test_an_allow_rule_may_be_about_several_tools_and_a_denial_about_one(file: Path) -> None:
    file.write_text('allow = [{ tool = "Edit", also = ["Write"] }]\n')
    policy = RulePolicy.from_file(file)
    assert await said(policy, "Write") == (Ruling.ALLOW, "allow rule 1")
    assert await said(policy, "MultiEdit") == (Ruling.ASK, "ask")

    file.write_text('deny = [{ tool = "Edit", also = ["Write"] }]\n')
    with pytest.raises(SettingsError) as caught:
        RulePolicy.from_file(file)
    assert any("is about one tool: write one for 'Write'" in one for one in caught.value.problems)
    with pytest.raises(ConfigError, match="about one tool"):
        RulePolicy(deny=[Rule("Edit", also=("Write",))])
    assert once_keys([Rule("Edit")]) != once_keys([Rule("Edit", also=("Write",))])


async def test_a_file_may_allow_by_default(file: Path) -> None:
    file.write_text('default = "allow"\n')

    assert await said(RulePolicy.from_file(str(file)), "x") == (Ruling.ALLOW, "default")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('\ndeny = [{ tol = "x" }]', "line 2: deny 1.tol is not a setting; did you mean tool?"),
        ("denny = []", "line 1: denny is not a setting; did you mean deny?"),
        ('deny = [{ tool = "x", params = { a = 1 } }]', "line 1: deny 1.params.a must be a string"),
        ('allow = [\n  { tool = "x", params = { a = "[a" } },\n]\nallow = 1', "is not valid TOML"),
        ('preset = "all"', "line 1: preset 'all' is not a preset; there is 'coding'"),
        ('agent = "x"', "line 1: agent is not a setting"),
    ],
)
def test_a_mistake_is_told_with_line_and_fix(file: Path, text: str, problem: str) -> None:
    file.write_text(text)

    with pytest.raises(SettingsError) as caught:
        RulePolicy.from_file(file)

    assert any(f"{file} {problem}" in told for told in caught.value.problems)


def test_a_file_that_is_not_there_is_told(file: Path) -> None:
    with pytest.raises(SettingsError, match=r"policy\.toml: no such file"):
        RulePolicy.from_file(file)


RUNS_WRITES_OR_FETCHES = (
    *("bash", "shell", "exec", "run", "command", "terminal", "python", "eval", "repl", "execute"),
    *("write", "edit", "patch", "create", "delete", "remove", "move", "copy", "rename", "append"),
    *("fetch", "web", "http", "url", "browse", "download", "search_web", "request", "resource"),
    *("git", "task", "agent", "todo", "notebookedit", "replace", "insert", "save", "update"),
)


def test_nothing_in_a_preset_runs_writes_or_fetches_by_its_name() -> None:
    names = [one.tool for preset in PRESETS.values() for one in preset]

    suspicious = {
        name
        for name in names
        for word in RUNS_WRITES_OR_FETCHES
        if word in name.lower() and name != "BashOutput"
    }

    # They keep the list of tasks that an agent writes for itself, and do nothing else.
    assert suspicious - {"Bash", "bash", "Task", "Agent"} == {
        *("TodoWrite", "TodoRead", "write_todos"),
        *("TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TaskOutput"),
    }
    assert len(names) == len(set(names))


async def test_the_list_that_an_agent_keeps_for_itself_is_no_question_but_a_plan_is_one() -> None:
    policy = RulePolicy(allow=[one.rule for one in PRESETS["coding"]])

    for name, ruling in (
        ("TodoWrite", Ruling.ALLOW),
        ("write_todos", Ruling.ALLOW),
        ("update_plan", Ruling.ASK),
        ("ExitPlanMode", Ruling.ASK),
        ("EnterPlanMode", Ruling.ALLOW),
    ):
        assert (await said(policy, name))[0] is ruling, name


@pytest.mark.parametrize("tool", ["Bash", "bash"])
@pytest.mark.parametrize(
    ("arguments", "ruling"),
    [
        ({"command": "git status && ls -la | head -5"}, Ruling.ALLOW),
        ({"command": "cat a", "description": "looks", "timeout": 5}, Ruling.ALLOW),
        ({"command": "find . -name x -exec grep y {} +"}, Ruling.ALLOW),
        ({"command": ["bash", "-lc", "cat a | head"]}, Ruling.ALLOW),
        ({"command": "git status; rm x"}, Ruling.ASK),
        ({"command": "cat a > b"}, Ruling.ASK),
        ({"command": "git commit -m x"}, Ruling.ASK),
        ({"command": "pytest"}, Ruling.ASK),
        ({"command": "cat $(rm x)"}, Ruling.ASK),
        ({"command": "cat a", "run_in_background": True}, Ruling.ASK),
        ({"command": "cat a", "dangerouslyDisableSandbox": True}, Ruling.ASK),
        ({"command": "git log", "cwd": "/tmp/evil"}, Ruling.ASK),
        ({"description": "looks"}, Ruling.ASK),
        ({}, Ruling.ASK),
    ],
)
async def test_the_preset_allows_lines_of_a_shell_whose_every_part_only_looks(
    tool: str, arguments: dict[str, Any], ruling: Ruling
) -> None:
    policy = RulePolicy(allow=[one.rule for one in PRESETS["coding"]])

    assert (await said(policy, tool, **arguments))[0] is ruling


@pytest.mark.parametrize("tool", ["shell", "exec_command", "run_shell_command", "execute", "run"])
async def test_a_shell_that_may_be_powershell_is_asked_about(tool: str) -> None:
    policy = RulePolicy(allow=[one.rule for one in PRESETS["coding"]])

    assert (await said(policy, tool, command="ls", cmd="ls"))[0] is Ruling.ASK


@pytest.mark.parametrize(
    ("tool", "arguments", "ruling"),
    [
        ("Task", {"subagent_type": "Explore", "prompt": "a/b\nc", "model": "x"}, Ruling.ALLOW),
        ("Agent", {"subagent_type": "Plan", "prompt": "x", "description": "y"}, Ruling.ALLOW),
        ("Task", {"prompt": "x"}, Ruling.ASK),
        ("Task", {}, Ruling.ASK),
        ("Agent", {"subagent_type": "Plan", "mode": "bypassPermissions"}, Ruling.ASK),
        ("Agent", {"subagent_type": "Plan", "isolation": "worktree"}, Ruling.ASK),
        ("Agent", {"subagent_type": "Plan", "cwd": "/tmp"}, Ruling.ASK),
        ("AskUserQuestion", {"questions": [{"question": "a?"}]}, Ruling.ALLOW),
        ("AskUserQuestion", {"questions": [], "answers": {"a?": "yes"}}, Ruling.ASK),
        ("ExitPlanMode", {"plan": "x"}, Ruling.ASK),
        ("TaskCreate", {"subject": "a", "description": "b"}, Ruling.ALLOW),
        ("TaskCreate", {"subject": "a", "project": "b"}, Ruling.ASK),
        ("TaskUpdate", {"taskId": "1", "status": "done"}, Ruling.ALLOW),
        ("TaskUpdate", {"status": "done"}, Ruling.ASK),
        ("TaskUpdate", {"taskId": "1", "assignee": "al"}, Ruling.ASK),
    ],
)
async def test_what_changes_only_what_an_agent_knows_is_told_by_its_arguments(
    tool: str, arguments: dict[str, Any], ruling: Ruling
) -> None:
    policy = RulePolicy(allow=[one.rule for one in PRESETS["coding"]])

    assert (await said(policy, tool, **arguments))[0] is ruling


def test_the_docs_list_what_a_preset_allows_and_nothing_else() -> None:
    page = (ROOT / "docs" / "policies" / "server.md").read_text()
    table = page.split("| does at most | tools |")[1].split("\n\n")[0]
    told = [name for row in table.splitlines() for name in row.split("`")[1::2]]

    assert sorted(told) == sorted(one.tool for one in PRESETS["coding"])
