"""Which settings a command reads: one that asks for an agent none that lie where it works."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from support.commands import Done
from support.hooked import Machine, decision, event

from sayso_bots.cli.main import main

Here = Callable[..., Done]

ALLOWS = '[policy]\ndefault = "allow"\n'
UNREAD = (
    "sayso: sayso.toml in this folder is not read, since an agent may have written it; "
    "name it with --config or SAYSO_CONFIG if it is yours\n"
)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder in which somebody has left settings that allow everything."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "sayso.toml").write_text(ALLOWS)
    return folder


@pytest.fixture
def machine(theirs: Path, tmp_path: Path, store_url: str) -> Any:
    """A user who works in that folder, and has a home."""
    own = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    env = {
        **own,
        "HOME": str(tmp_path / "home"),
        "USER": "tester",
        "XDG_RUNTIME_DIR": str(tmp_path),
        "SAYSO_STORE_URL": store_url,
    }
    return Machine(theirs, env)


@pytest.fixture
def here(machine: Machine, capsys: pytest.CaptureFixture[str]) -> Here:
    """Runs a command in that folder, and in this process."""

    def run(*words: str, **env: str) -> Done:
        with chdir(machine.folder):
            code = main(words, {**machine.env, **env})
        return Done(code, *capsys.readouterr())

    return run


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_settings_in_the_folder_it_runs_in_let_no_script_approve_itself(
    here: Here,
) -> None:
    done = here("ask", "x", "--timeout", "300ms", "--quiet")

    assert (done.code, done.out) == (3, "expired\n")
    assert done.err.count(UNREAD) == 1


def test_the_store_that_settings_in_the_folder_name_is_not_asked(
    here: Here, machine: Machine
) -> None:
    (machine.folder / "sayso.toml").write_text('[store]\nurl = "redis://127.0.0.1:1/0"\n')
    own = '[store]\nurl = "redis://127.0.0.1:2/0"\n'
    _write(Path(machine.env["HOME"], ".config", "sayso", "sayso.toml"), own)

    done = here("ask", "x", "--patience", "100ms", SAYSO_STORE_URL="")

    assert (done.code, UNREAD in done.err) == (4, True)
    assert "127.0.0.1:2" in done.err


@pytest.mark.parametrize(
    "place", ["home", "XDG_CONFIG_HOME", "SAYSO_CONFIG", "--config", "relative"]
)
def test_a_script_reads_the_settings_that_are_named_or_in_its_users_folder(
    here: Here, machine: Machine, tmp_path: Path, place: str
) -> None:
    (machine.folder / "sayso.toml").unlink()
    folders = {"home": tmp_path / "home/.config/sayso", "XDG_CONFIG_HOME": tmp_path / "xdg/sayso"}
    file = _write(folders.get(place, machine.folder) / "sayso.toml", ALLOWS)
    env = {
        "XDG_CONFIG_HOME": {"XDG_CONFIG_HOME": str(tmp_path / "xdg")},
        "SAYSO_CONFIG": {"SAYSO_CONFIG": str(file)},
    }.get(place, {})
    words = {"--config": ("--config", str(file)), "relative": ("--config", "sayso.toml")}
    done = here("ask", "x", *words.get(place, ()), **env)

    assert (done.code, done.err) == (0, "")


def test_a_configuration_folder_that_is_named_relatively_is_none(
    here: Here, machine: Machine
) -> None:
    (machine.folder / "sayso.toml").rename(_write(machine.folder / "sayso/sayso.toml", ""))

    done = here("ask", "x", "--timeout", "300ms", XDG_CONFIG_HOME=".")

    assert done.code == 3


async def test_a_hook_mentions_settings_in_its_folder_and_does_not_read_them(
    machine: Machine,
) -> None:
    done = await machine.hook(event("x"), "--timeout", "300ms")

    assert decision(done)[0] == "deny"
    assert UNREAD in done.err


@pytest.mark.parametrize("words", [("mcp",), ("mcp-proxy", "--", "cat"), ("acp", "--", "cat")])
async def test_what_stands_before_a_server_or_an_agent_mentions_settings_in_its_folder(
    machine: Machine, words: tuple[str, ...]
) -> None:
    done = await machine.run(*words)

    assert done.out == ""
    assert UNREAD in done.err


@pytest.mark.parametrize(
    "install", [("hook", "install", "claude-code"), ("mcp", "install", "cursor")]
)
def test_settings_in_the_folder_are_not_written_into_those_of_an_agent(
    here: Here, machine: Machine, install: tuple[str, ...]
) -> None:
    server = {"mcpServers": {"files": {"command": "serve-files"}}}
    theirs = _write(machine.folder / ".cursor/mcp.json", json.dumps(server))

    done = here(*install, "--scope", "project")

    assert (done.code, UNREAD in done.err) == (0, True)
    file = theirs if install[0] == "mcp" else machine.folder / ".claude/settings.json"
    assert "/dev/null" in file.read_text()
    assert str(machine.folder / "sayso.toml") not in file.read_text()


OPERATORS = [
    ("pending",), ("show", "none"), ("cancel", "none"), ("rules",), ("revoke", "none"), ("audit",),
    ("explain", "x"), ("webhook", "show"),
]  # fmt: skip


@pytest.mark.parametrize("words", OPERATORS, ids=lambda words: words[0])
def test_an_operators_command_says_which_settings_it_reads(
    here: Here, machine: Machine, words: tuple[str, ...]
) -> None:
    done = here(*words)

    assert done.err.splitlines()[0] == f"sayso: settings: {machine.folder}/sayso.toml"


def test_json_of_an_operators_command_is_json_alone(here: Here) -> None:
    done = here("explain", "x", "--json")

    assert json.loads(done.out)["ruling"] == "allow"


def test_check_says_the_whole_path_of_its_settings(here: Here, machine: Machine) -> None:
    route = '[[route]]\nto = ["telegram:-1"]\napprovers = ["telegram:1"]\n'
    (machine.folder / "sayso.toml").write_text(route)

    check = here(
        "check",
        TELEGRAM_BOT_TOKEN=f"1:{'a' * 35}",
        SAYSO_TELEGRAM_MODE="polling",
        SAYSO_TELEGRAM_API_URL="http://127.0.0.1:1",
    )

    assert f"read from {machine.folder}/sayso.toml\n" in check.out
    assert "sayso: settings:" not in check.err


@pytest.mark.parametrize("command", ["serve", "check"])
def test_wrong_settings_are_named_with_their_whole_path(
    here: Here, machine: Machine, command: str
) -> None:
    (machine.folder / "sayso.toml").write_text("[store]\nurls = 1\n")

    done = here(command)

    assert f"{machine.folder}/sayso.toml\n" in done.out + done.err
    assert "sayso.toml line 2: store.urls" in done.out + done.err


def test_an_operator_without_settings_in_the_folder_has_those_of_the_user(
    here: Here,
    machine: Machine,
) -> None:
    (machine.folder / "sayso.toml").unlink()
    own = _write(Path(machine.env["HOME"], ".config", "sayso", "sayso.toml"), ALLOWS)

    done = here("explain", "x")

    assert done.err == f"sayso: settings: {own}\n"
    assert "allowed" in done.out
