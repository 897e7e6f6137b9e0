"""The table of well-known tools: what it may say of them."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from sayso.calls import ToolCall
from sayso.errors import ConfigError
from sayso.known.tools import (
    FINDS,
    FINDS_AND_SEARCHES,
    READS_SEVERAL,
    SEARCHES,
    Catalog,
    catalog,
    known,
    roles_in,
)
from sayso.policy.policy_file import PRESETS
from sayso.rules.declarations import (
    Requirements,
    Roles,
    ToolAnnotations,
    declared_by,
    requires_permission,
)

# What changes where a command runs, as whom, or what runs with it.
NEVER_TALK = {
    *("command", "cmd", "cwd", "workdir", "directory", "dir_path", "env", "host", "user", "shell"),
    *("run_in_background", "is_background", "dangerouslyDisableSandbox"),
    *("with_escalated_permissions", "sandbox_permissions", "elevated", "file_path", "path", "url"),
}


def test_nothing_that_changes_what_runs_is_talk_of_a_well_known_tool() -> None:
    for tool in catalog().tools:
        assert NEVER_TALK.isdisjoint(tool.talk), tool
        assert NEVER_TALK.isdisjoint(tool.writes), tool
        assert tool.roles  # and no argument has two roles


def test_the_table_holds_every_tool_that_was_reviewed() -> None:
    table = catalog()

    assert len(table.tools) >= 80
    assert len(table.looking) == len(table.looks) >= 38
    assert {FINDS, SEARCHES, READS_SEVERAL, FINDS_AND_SEARCHES} <= set(table.looks.values())


@pytest.mark.parametrize(
    "row",
    [{"name": "x"}, {"name": "x", "of": "y", "look": "z"}, {"name": "x", "of": "y", "only": "z"}],
)
def test_a_tool_that_is_written_otherwise_is_refused(row: dict[str, str]) -> None:
    table = dict.fromkeys(("shells", "writing", "talking", "fetching"), ())

    with pytest.raises(ValueError):
        TypeAdapter(Catalog).validate_python({**table, "looking": [row]})


def test_tools_of_one_name_are_told_apart_by_their_arguments() -> None:
    langchain = known(ToolCall("write_file", {"file_path": "a", "text": ""}))
    served = known(ToolCall("write_file", {"path": "a", "content": ""}))

    assert langchain is not None
    assert langchain.paths == ("file_path",)
    assert served is not None
    assert served.paths == ("path",)
    assert known(ToolCall("write_file", {"path": "a", "file_path": "b"})) is None
    assert known(ToolCall("write_file", {"target": "a"})) is None
    assert known(ToolCall("Bash", {"script": "ls"})) is None


def test_what_a_tool_declares_counts_before_what_is_well_known() -> None:
    call = ToolCall("Bash", {"command": "ls", "note": "x"})

    assert roles_in(call, None) == Roles(talk=("description", "timeout"), command="command")
    assert roles_in(call, ToolAnnotations(talk=["note"])) == Roles(talk=("note",))
    assert roles_in(call, ToolAnnotations(requires=True)).command == "command"


def test_a_tool_says_what_its_arguments_are_for_wherever_it_is_declared() -> None:
    @requires_permission(talk=["why"], paths=["path"], writes=["text"])
    def save(path: str, text: str, why: str) -> None: ...

    requirements = Requirements([save])
    requirements.declare("run", command="line", talk=["why"])
    declared = declared_by(save)

    assert declared is not None
    assert declared.roles == Roles(talk=("why",), paths=("path",), writes=("text",))
    assert requirements.of("run") == ToolAnnotations(command="line", talk=["why"])


@pytest.mark.parametrize(
    "said",
    [{"talk": "why"}, {"talk": ["a"], "command": "a"}, {"paths": ["a"], "writes": ["a"]}],
)
def test_an_argument_has_one_role(said: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        ToolAnnotations(**said)  # type: ignore[arg-type]


def test_the_preset_is_what_the_table_says_of_tools_that_look() -> None:
    assert [one.tool for one in PRESETS["coding"]] == [
        one.name for one in catalog().tools if one.looks
    ]
    assert not any(one.url for one in catalog().tools if one.looks)


def test_a_preset_allows_no_line_of_a_shell_that_may_be_powershell() -> None:
    assert {one.name for one in catalog().tools if one.looks and one.command} == {"Bash", "bash"}


def test_of_a_tool_that_only_looks_with_some_arguments_none_is_about_more() -> None:
    for tool in catalog().tools:
        assert set(tool.needs) <= set(tool.only)
        assert NEVER_TALK.isdisjoint({*tool.only} - {"run_in_background"}), tool
