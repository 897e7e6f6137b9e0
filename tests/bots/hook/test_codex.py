"""The hook for Codex, by what its public source does with an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.codex import Does, codex_does, codex_event
from support.hooked import Machine, a_machine, ended, until_asked

from sayso.stores.connect import open_store
from sayso_bots.hook.agents import CODEX
from sayso_bots.hook.events import allowed, denied, read_event

TOML = """
[[policy]]
allow = [{ tool = "Bash", params = { command = "ls" } }]
deny = [{ tool = "Bash", params = { command = "rm *" } }]
"""


@pytest.fixture
def machine(tmp_path: Path, store_url: str) -> Machine:
    """A user whose login shell is silent."""
    own = {"SAYSO_STORE_URL": store_url, "SHELL": "/bin/sh"}
    return a_machine(tmp_path, TOML, **own)


def an_answer(**said: Any) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}})


@pytest.mark.parametrize(
    ("code", "out", "err", "does"),
    [
        (0, "", "", "runs"),
        (0, "{}", "", "runs"),
        (0, an_answer(permissionDecision="allow"), "", "runs"),
        (0, an_answer(permissionDecision="ask", permissionDecisionReason="?"), "", "runs"),
        (0, an_answer(permissionDecision="deny", permissionDecisionReason="no"), "", "stops"),
        (0, an_answer(permissionDecision="deny", permissionDecisionReason=" "), "", "runs"),
        (0, an_answer(permissionDecision="deny"), "", "runs"),
        (0, an_answer(permissionDecision="deny", permissionDecisionReason="\ud800"), "", "runs"),
        (0, an_answer(permissionDecision="deny", permissionDecisionReason="no", x=1), "", "runs"),
        (
            0,
            "hello\n" + an_answer(permissionDecision="deny", permissionDecisionReason="no"),
            "",
            "runs",
        ),
        (0, an_answer(permissionDecision="allow", updatedInput={"a": 1}), "", {"a": 1}),
        (2, "hello", "no", "stops"),
        (2, "", "", "runs"),
        (1, "", "no", "runs"),
    ],
    ids=range(14),
)
def test_the_stand_in_does_what_codex_does(code: int, out: str, err: str, does: Does) -> None:
    assert codex_does(code, out, err) == does


def test_an_event_of_codex_is_read_whole() -> None:
    read = read_event(codex_event(command="ls").decode(), CODEX)

    assert (read.tool, read.arguments, read.call_id) == ("Bash", {"command": "ls"}, "call_1")
    assert read.prompt.endswith("2")
    assert read.description == "Codex, permission mode bypassPermissions"


def test_an_edit_has_the_form_that_codex_reads() -> None:
    changed = {"command": "ls -l"}
    reply = CODEX.reply(allowed("PreToolUse", "yes", changed, "the arguments were changed"))

    assert codex_does(0, json.dumps(reply.answer), "") == changed
    assert codex_does(2, "", CODEX.reply(denied("PreToolUse", " ")).words) == "stops"


@pytest.mark.parametrize("printed", ["", "Welcome back!"])
async def test_codex_does_what_was_decided_whatever_its_login_shell_prints(
    machine: Machine, printed: str
) -> None:
    """It starts hooks by ``$SHELL -lc``, so a profile may print before them."""
    for command, does in (("ls", "runs"), ("rm -r .", "stops")):
        done = await machine.run("hook", "codex", text=codex_event(command=command))

        assert codex_does(done.code, f"{printed}\n{done.out}", done.err) == does


@pytest.mark.parametrize(("printed", "does"), [("", {"command": "ls -l"}), ("Welcome!", "stops")])
async def test_an_edit_that_a_noisy_login_shell_would_hide_from_codex_runs_nothing(
    machine: Machine, store_url: str, printed: str, does: Does
) -> None:
    shell = machine.folder / "shell"
    shell.write_text(f"#!/bin/sh\nprintf '%s' '{printed}'\n")
    shell.chmod(0o755)
    env = {"SHELL": str(shell)}
    async with (
        open_store(store_url) as backend,
        machine.started("hook", "codex", env=env) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(codex_event(command="make"))
        process.stdin.close()
        request = await until_asked(backend)
        response = request.approve(by="slack:U0ALICE", modified_arguments={"command": "ls -l"})
        await backend.store.settle(request.question_id, response)
        done = await ended(process)

    assert codex_does(done.code, printed + done.out, done.err) == does
