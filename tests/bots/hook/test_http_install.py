"""``sayso hook install claude-code --http``: written only where Claude Code stops what fails."""

from __future__ import annotations

import json
import os
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from support.claude_code import claude_command
from support.commands import Run
from support.hooked import Install

from sayso_bots.hook.http_hook import (
    explain_version,
    http_hook_findings,
    read_version,
)

TOKEN = {"SAYSO_HOOK_TOKEN": "of-this-test-and-of-no-other-one-at-all"}
STORE = {"SAYSO_STORE_URL": "redis://there/7"}


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """A command in the place of Claude Code; it is asked for its version alone."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder / "claude"


def says(claude: Path, version: str) -> dict[str, str]:
    """The command says this of itself; the variables by which it is found."""
    claude.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{version}'\n")
    claude.chmod(0o755)
    return {"PATH": f"{claude.parent}{os.pathsep}{os.environ['PATH']}", **STORE}


def hooks(file: Path) -> dict[str, Any]:
    """The first hook of each event."""
    found = json.loads(file.read_text())["hooks"]
    return {event: entries[0]["hooks"][0] for event, entries in found.items()}


def test_what_is_written_stops_a_call_that_cannot_be_asked_about(
    install: Install, file: Path, claude: Path
) -> None:
    done = install("--http", "--timeout", "90s", **says(claude, "2.1.295 (Claude Code)"), **TOKEN)
    written = hooks(file)

    assert (done.code, done.out, done.err) == (0, f"written into {file}\n", "")
    brings = {"Authorization": "Bearer $SAYSO_HOOK_TOKEN"}
    assert written["PreToolUse"] == {
        "type": "http",
        "url": "http://127.0.0.1:8091/hooks/claude-code",
        "timeout": 150,
        "onFailure": "block",
        "headers": brings,
        "allowedEnvVars": ["SAYSO_HOOK_TOKEN"],
    }
    for event in ("PostToolUse", "PostToolUseFailure"):
        assert written[event]["url"] == "http://127.0.0.1:8091/hooks/claude-code/ran"
        assert "onFailure" not in written[event]
    assert not any(secret in file.read_text() for secret in TOKEN.values())


def test_whoever_installs_without_the_token_is_told_of_it(install: Install, claude: Path) -> None:
    done = install("--http", **says(claude, "2.1.330 (Claude Code)"))

    assert done.code == 0
    assert "set SAYSO_HOOK_TOKEN" in done.err


@pytest.mark.parametrize(
    "version", ["2.1.294 (Claude Code)", "2.0.999", "1.9.400", "no version", "2.1", ""]
)
def test_an_older_claude_code_gets_the_command_and_whoever_installs_reads_why(
    install: Install, file: Path, claude: Path, version: str
) -> None:
    done = install("--http", **says(claude, version), **TOKEN)

    assert done.code == 0
    assert hooks(file)["PreToolUse"]["command"].endswith("|| exit 2")
    assert "2.1.295" in done.err
    assert "the command hook is written instead" in done.err


def test_without_a_claude_code_the_command_is_written(install: Install, file: Path) -> None:
    done = install("--http", PATH="/nowhere", **STORE, **TOKEN)

    assert (done.code, hooks(file)["PreToolUse"]["type"]) == (0, "command")


def test_each_kind_takes_the_place_of_the_other_and_undo_takes_both_out(
    install: Install, file: Path, claude: Path
) -> None:
    env = {**says(claude, "2.1.330"), **TOKEN}
    install(**STORE)
    install("--http", **env)
    http = file.read_text()
    again = install("--http", **env)
    install(**STORE)

    assert [len(entries) for entries in json.loads(http)["hooks"].values()] == [1, 1, 1]
    assert '"command"' not in http
    assert "already" in again.out
    assert '"http"' not in file.read_text()
    install("--http", **env)
    install("--undo")
    assert json.loads(file.read_text()) == {}


@pytest.mark.parametrize(
    "options",
    [
        ("--agent", "x"),
        ("--store", "redis://there"),
        ("--config", "/etc/sayso.toml"),
        ("--patience", "1s"),
        ("--listen", "10.0.0.7:8091"),
        ("--listen", "127.0.0.1:0"),
    ],
    ids=str,
)
def test_what_decides_is_said_to_the_server_and_no_other_machine_is_asked(
    install: Install, file: Path, claude: Path, options: tuple[str, ...]
) -> None:
    done = install("--http", *options, **says(claude, "2.1.330"))

    assert done.code == 2
    assert not file.exists()


@pytest.mark.parametrize("version", ["2.1.330", "2.1.100"])
def test_the_settings_of_all_who_work_on_a_project_get_no_http_hook(
    run: Run, tmp_path: Path, claude: Path, version: str
) -> None:
    words = ("hook", "install", "claude-code", "--http", "--scope", "project")
    with chdir(tmp_path):
        done = run(*words, env=says(claude, version))

    assert done.code == 2
    assert "--scope project" in done.err
    assert "take --scope user, or leave --http out" in done.err
    assert not (tmp_path / ".claude").exists()


def test_codex_has_no_http_hook(run: Run, tmp_path: Path) -> None:
    done = run("hook", "install", "codex", "--http", env={"CODEX_HOME": str(tmp_path)})

    assert done.code == 2
    assert "Codex has no HTTP hook" in done.err


def test_the_version_of_the_real_claude_code_is_read() -> None:
    version = read_version({**os.environ, "PATH": str(claude_command().parent)})

    assert version is not None
    assert explain_version(version) == ""


def test_what_is_found_as_claude_reads_no_secret_of_the_users(claude: Path, tmp_path: Path) -> None:
    env = says(claude, "2.1.330")
    claude.write_text(claude.read_text() + f"env > {tmp_path}/env\n")
    version = read_version({**env, **TOKEN, "AWS_SECRET_ACCESS_KEY": "s3cret", "HOME": "/home/me"})
    read = (tmp_path / "env").read_text()

    assert version == (2, 1, 330)
    assert "HOME=/home/me" in read
    assert not any(word in read for word in ("SAYSO", "s3cret", STORE["SAYSO_STORE_URL"]))


def found(folder: Path, env: dict[str, str]) -> list[tuple[str, str]]:
    where = {"CLAUDE_CONFIG_DIR": str(folder), **env}
    return [(one.level, one.text) for one in http_hook_findings(where, folder)]


def test_check_says_that_a_claude_code_was_replaced_by_an_older_one(
    install: Install, file: Path, claude: Path
) -> None:
    newer = says(claude, "2.1.330")
    install("--http", **newer, **TOKEN)
    ((before, _),) = found(file.parent, newer)
    ((after, why),) = found(file.parent, says(claude, "2.1.294"))

    assert (before, after) == ("ok", "failed")
    assert "2.1.294 runs the call when an HTTP hook fails" in why


def test_check_says_that_a_hook_does_not_stop_what_fails(
    install: Install, file: Path, claude: Path
) -> None:
    env = says(claude, "2.1.330")
    install("--http", **env, **TOKEN)
    file.write_text(file.read_text().replace('"block"', '"blok"'))
    ((level, why),) = found(file.parent, env)

    assert level == "failed"
    assert "onFailure" in why


CHANGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "/ran": ({"url": "http://127.0.0.1:8091/hooks/claude-code/ran"}, {}),
    "example": ({"url": "http://example.org:8091/hooks/claude-code"}, {}),
    "https": ({"url": "https://127.0.0.1:8091/hooks/claude-code"}, {}),
    "@": ({"url": "http://127.0.0.1:8091@example.org/hooks/claude-code"}, {}),
    "None": ({"url": None}, {}),
    "if": ({"if": "Bash(git *)"}, {}),
    "once": ({"once": True}, {}),
    "async": ({"async": True}, {}),
    "seconds": ({"timeout": "600"}, {}),
    "headers": ({"headers": {}}, {}),
    "allowedEnvVars": ({"allowedEnvVars": ["SAYSO_HOOK_TOKEN", "HOME"]}, {}),
    "matcher": ({}, {"matcher": None}),
    "matcher 'Read'": ({}, {"matcher": "Read"}),
    "disabled": ({}, {"disabled": True}),
}


@pytest.mark.parametrize("named", CHANGED)
def test_check_says_that_a_hook_is_not_as_it_was_installed(
    install: Install, file: Path, claude: Path, named: str
) -> None:
    env = says(claude, "2.1.330")
    install("--http", **env, **TOKEN)
    said = json.loads(file.read_text())
    (entry,) = said["hooks"]["PreToolUse"]
    of_hook, of_entry = CHANGED[named]
    entry |= of_entry
    entry["hooks"][0] |= of_hook
    file.write_text(json.dumps(said))
    ((level, why),) = found(file.parent, env)

    assert level == "failed"
    assert named in why
    assert "run `sayso hook install claude-code --http` again" in why


@pytest.mark.parametrize(
    "at", ["settings.json", ".claude/settings.json", ".claude/settings.local.json"]
)
def test_check_says_that_a_file_switches_all_hooks_off(
    install: Install, file: Path, claude: Path, at: str
) -> None:
    env = says(claude, "2.1.330")
    install("--http", **env, **TOKEN)
    off = file.parent / at
    off.parent.mkdir(exist_ok=True)
    said = json.loads(off.read_text()) if off.exists() else {}
    off.write_text(json.dumps({**said, "disableAllHooks": True}))
    first, _ = found(file.parent, env)

    assert first == ("failed", f"{off}: disableAllHooks lets calls run without a hook; remove it")


@pytest.mark.parametrize(
    "options",
    [("--listen", "[::1]:9000"), ("--timeout", "1h"), ("--event", "PermissionRequest")],
    ids=str,
)
def test_check_finds_nothing_wrong_with_what_is_installed_with_options(
    install: Install, file: Path, claude: Path, options: tuple[str, ...]
) -> None:
    env = says(claude, "2.1.330")
    install("--http", *options, **env, **TOKEN)

    assert [level for level, _ in found(file.parent, env)] == ["ok"]


def test_check_says_that_a_project_shares_an_http_hook(
    install: Install, file: Path, tmp_path: Path, claude: Path
) -> None:
    env = says(claude, "2.1.330")
    install("--http", **env, **TOKEN)
    where = {"CLAUDE_CONFIG_DIR": str(tmp_path / "mine"), **env}
    (one,) = http_hook_findings(where, tmp_path)

    assert one.level == "failed"
    assert "an older Claude Code runs every call with it" in one.text
    assert "install claude-code --scope project" in one.text


def test_settings_of_a_user_who_works_in_the_home_are_not_a_projects(
    install: Install, file: Path, tmp_path: Path, claude: Path
) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(file.parent), **says(claude, "2.1.330")}
    install("--http", **env, **TOKEN)

    assert [one.level for one in http_hook_findings(env, tmp_path)] == ["ok"]


def test_check_names_the_tools_of_a_hook_that_is_not_for_all(
    install: Install, file: Path, claude: Path
) -> None:
    env = says(claude, "2.1.330")
    install("--http", "--matcher", "Bash|Edit", **env, **TOKEN)
    ((level, text),) = found(file.parent, env)

    assert level == "ok"
    assert "of 'Bash|Edit', and of no other tool" in text


def test_check_says_nothing_where_there_is_no_http_hook(install: Install, file: Path) -> None:
    install(**STORE)

    assert found(file.parent, {}) == []


def test_sayso_check_looks_at_the_hooks(
    run: Run, install: Install, file: Path, claude: Path
) -> None:
    env = says(claude, "2.1.330")
    install("--http", **env, **TOKEN)
    older = {"CLAUDE_CONFIG_DIR": str(file.parent), **says(claude, "2.1.100")}

    done = run("check", env=older)

    assert done.code == 1
    assert "Claude Code 2.1.100 runs the call when an HTTP hook fails" in done.out
