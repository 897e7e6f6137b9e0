"""`sayso hook install claude-code`: our hook goes in and out, all else stays as it means."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import Run
from support.hooked import Install

from sayso.errors import ConfigError
from sayso_bots.cli.hook_event import hook_setup
from sayso_bots.hook.agents import AGENTS, CLAUDE_CODE, CODEX, HookAgent
from sayso_bots.hook.settings_file import Hook, add_hooks, remove_hook, settings_file

HOOK = Hook("PreToolUse", "*", "'/opt/sayso env/bin/sayso' hook claude-code || exit 2", 660)
ENTRY = {
    "matcher": "*",
    "hooks": [{"type": "command", "command": HOOK.command, "timeout": HOOK.seconds}],
}
OTHER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "sayso-lint hook"}]}


def _written(file: Path, data: Any) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data, indent=2) + "\n")
    return file


def test_the_hook_is_written_where_there_are_no_settings_yet(file: Path) -> None:
    assert add_hooks(file, [HOOK])
    assert json.loads(file.read_text()) == {"hooks": {"PreToolUse": [ENTRY]}}


def test_what_is_there_stays_and_ours_is_taken_out_again(file: Path) -> None:
    before = {"model": "opus", "hooks": {"PreToolUse": [OTHER], "Stop": []}, "é": [1.5, 10**20]}
    _written(file, before)

    assert add_hooks(file, [HOOK])
    added = json.loads(file.read_text())
    assert remove_hook(file)

    assert added["hooks"]["PreToolUse"] == [OTHER, ENTRY]
    assert json.loads(file.read_text()) == before
    assert not remove_hook(file)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.lists(st.fixed_dictionaries({"matcher": st.text()}, optional={"hooks": JSON}))


@given(
    settings=st.dictionaries(st.text().filter(lambda name: name != "hooks"), JSON, max_size=4),
    hooks=st.dictionaries(st.sampled_from(["PreToolUse", "Stop"]), ENTRIES.filter(bool)),
)
def test_any_settings_mean_the_same_once_the_hook_is_taken_out(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any], hooks: dict[str, Any]
) -> None:
    before = {**settings, **({"hooks": hooks} if hooks else {})}
    before.pop("disableAllHooks", None)
    file = _written(tmp_path_factory.mktemp("home") / "settings.json", before)

    assert add_hooks(file, [HOOK])
    assert remove_hook(file)

    assert json.dumps(json.loads(file.read_text())) == json.dumps(before)


def test_a_second_time_changes_nothing_and_other_options_take_the_place_of_the_first(
    file: Path,
) -> None:
    add_hooks(file, [HOOK])
    before = file.stat().st_mtime_ns, file.read_bytes()

    assert not add_hooks(file, [HOOK])
    assert (file.stat().st_mtime_ns, file.read_bytes()) == before
    assert add_hooks(file, [Hook("PermissionRequest", "Bash", HOOK.command, 90)])
    assert list(json.loads(file.read_text())["hooks"]) == ["PermissionRequest"]


def test_our_hook_beside_another_one_in_the_same_entry_is_taken_out_alone(file: Path) -> None:
    both = {"matcher": "*", "hooks": [*OTHER["hooks"], *ENTRY["hooks"]]}
    _written(file, {"hooks": {"PreToolUse": [both]}})

    assert remove_hook(file)
    assert json.loads(file.read_text())["hooks"]["PreToolUse"] == [
        {"matcher": "*", "hooks": OTHER["hooks"]}
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": ',
        "[]",
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        "// a comment\n{}",
        '{"hooks": []}',
        '{"hooks": {"PreToolUse": {}}}',
        '{"disableAllHooks": true}',
    ],
)
def test_settings_that_cannot_be_read_are_left_alone(file: Path, text: str) -> None:
    _written(file, text)

    with pytest.raises(ConfigError, match=r"nothing was changed|remove it first"):
        add_hooks(file, [HOOK])

    assert file.read_text() == text
    assert list(file.parent.iterdir()) == [file]


def test_a_file_is_replaced_in_one_step_with_its_mode_and_a_link_stays_a_link(
    file: Path, tmp_path: Path
) -> None:
    kept = _written(tmp_path / "dotfiles" / "claude.json", "{}")
    kept.chmod(0o600)
    file.parent.mkdir()
    file.symlink_to(kept)

    add_hooks(file, [HOOK])

    assert file.is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text())["hooks"]


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"hooks"'),
        ('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "hooks"'),
        ('\ufeff{\r\n  "a": "é"\r\n}\r\n', '\ufeff{\r\n  "a": "é",\r\n  "hooks"'),
    ],
)
def test_a_file_keeps_its_look(file: Path, before: str, kept: str) -> None:
    file.parent.mkdir()
    file.write_bytes(before.encode())

    add_hooks(file, [HOOK])

    assert file.read_bytes().decode().startswith(kept)
    assert file.read_bytes().endswith(b"\n") == before.endswith("\n")


def test_each_scope_has_its_file() -> None:
    def at(agent: HookAgent, scope: str) -> str:
        return str(settings_file(agent, scope, {"HOME": "/home/me"}, Path("/work")))

    assert at(CLAUDE_CODE, "user") == "/home/me/.claude/settings.json"
    assert at(CLAUDE_CODE, "project") == "/work/.claude/settings.json"
    assert at(CLAUDE_CODE, "local") == "/work/.claude/settings.local.json"
    assert at(CODEX, "user") == "/home/me/.codex/hooks.json"
    assert at(CODEX, "project") == "/work/.codex/hooks.json"
    with pytest.raises(ConfigError):
        at(CODEX, "local")


def test_what_is_written_starts_in_any_folder_and_is_given_more_time_than_the_question(
    install: Install, file: Path, tmp_path: Path
) -> None:
    done = install("--timeout", "90s", "--agent", "my coder", SAYSO_STORE_URL="redis://there/7")
    (entry,) = json.loads(file.read_text())["hooks"]["PreToolUse"]
    (hook,) = entry["hooks"]

    assert (done.code, done.out) == (0, f"written into {file}\n")
    assert hook["timeout"] == 150
    assert hook["command"].startswith("/")
    assert hook["command"].endswith(
        f" hook claude-code --config {tmp_path}/sayso.toml --timeout 90s --store redis://there/7 "
        "--agent 'my coder' || exit 2"
    )
    assert "no store was named" not in done.err


def test_it_is_known_before_the_first_call_that_the_settings_are_wrong(
    install: Install, file: Path
) -> None:
    memory = install("--store", "memory://")
    secret = install("--store", "redis://:geheim@there")
    hidden = install(SAYSO_STORE_URL="redis://there?password=geheim")
    time = install("--timeout", "soon")

    assert [memory.code, secret.code, hidden.code, time.code] == [2, 2, 2, 2]
    assert "memory://" in memory.err
    assert "geheim" not in secret.err + hidden.err
    assert not file.exists()


def test_no_variable_of_a_project_chooses_the_policy_the_store_or_the_agent_of_an_installed_hook(
    install: Install, file: Path, tmp_path: Path
) -> None:
    install(SAYSO_CONFIG="", SAYSO_STORE_URL="redis://there/7")
    theirs = tmp_path / "theirs.toml"
    theirs.write_text("whoever reads this ends with an error")

    env = {"SAYSO_CONFIG": str(theirs), "SAYSO_STORE_URL": "redis://here", "SAYSO_AGENT": "they"}
    settings, asker = hook_setup(written_words(file), env)

    assert f"--config {os.devnull} " in file.read_text()
    assert settings.store.url == "redis://there/7"
    assert asker.agent == "claude-code"


def test_a_password_of_the_store_is_taken_from_the_environment_for_that_store_alone(
    install: Install, file: Path
) -> None:
    done = install(SAYSO_STORE_URL="rediss://me:geheim@there:6380/7?namespace=x")
    words = written_words(file)

    def store_with(**env: str) -> str:
        return hook_setup(words, env)[0].store.url

    assert "geheim" not in file.read_text()
    assert "me" not in words
    assert "SAYSO_STORE_URL must be set" in done.err
    assert store_with() == "rediss://there:6380/7?namespace=x"
    for same in (
        "rediss://me:geheim@there:6380/7?namespace=x",
        "rediss://:neu@there:6380/7?namespace=x",
    ):
        assert store_with(SAYSO_STORE_URL=same) == same
    for other in ("rediss://me:x@here:6380/7?namespace=x", "redis://me:x@there:6380/7?namespace=x"):
        assert store_with(SAYSO_STORE_URL=other) == "rediss://there:6380/7?namespace=x"


def test_whoever_installs_without_a_store_is_told_which_one_it_is(install: Install) -> None:
    assert "redis://127.0.0.1:6379/0" in install().err
    assert "no store was named" not in install("--store", "redis://there").err


def written_words(file: Path) -> list[str]:
    """The options of the command that was written."""
    (entry,) = json.loads(file.read_text())["hooks"]["PreToolUse"]
    words = shlex.split(entry["hooks"][0]["command"].partition("||")[0])
    return words[words.index("hook") :]


def test_a_value_that_begins_with_a_dash_is_written_as_a_value(
    install: Install, file: Path
) -> None:
    done = install("--agent=-x", "--store", "redis://there")
    _, asker = hook_setup(written_words(file), {})

    assert done.code == 0
    assert asker.agent == "-x"


def test_undo_says_what_it_did(install: Install, file: Path) -> None:
    install()

    undone, again = install("--undo"), install("--undo", "--json")

    assert "taken out of" in undone.out
    assert json.loads(again.out)["changed"] is False
    assert json.loads(file.read_text()) == {}


def test_codex_gets_words_with_its_exit_code_and_whoever_installs_is_told_to_trust_it(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "hooks.json"
    done = run("hook", "install", "codex", env={"CODEX_HOME": str(tmp_path)})
    (entry,) = json.loads(file.read_text())["hooks"]["PreToolUse"]

    assert done.code == 0
    assert "/hooks" in done.err
    assert entry["hooks"][0]["command"].endswith(" >&2; exit 2; }")
    wrong = run("hook", "install", "codex", "--event", "PermissionRequest")
    assert (wrong.code, "not tried with Codex" in wrong.err) == (2, True)


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_a_command_that_is_missing_or_killed_stops_the_call_with_words(agent: HookAgent) -> None:
    for command in ("/no/such/command", "sh -c 'kill -9 $$'"):
        done = subprocess.run(
            ["/bin/sh", "-c", f"{command} {agent.otherwise}"],
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 2
        assert done.stderr.strip()
