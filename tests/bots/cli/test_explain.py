"""``sayso explain``: which line of the policy decides, where it stands, and what is remembered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from store_contracts.floor import a_floor
from support.commands import Run

from sayso.agent.place import project_folder, project_of
from sayso.calls import RunRef
from sayso.rules.rule import RememberedRule
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_response, a_rule

TOML = """\
[[policy]]
agent = "deploy-*"
deny = [
  { tool = "bash", params = { command = "rm -rf *" } },
]
allow_once = [{ tool = "migrate" }]

[[policy]]
agent = "b*"
preset = "coding"
"""


def explained(run: Run, *argv: str, **env: str) -> dict[str, Any]:
    done = run("explain", *argv, "--json", env=env, toml=TOML)
    assert (done.code, done.err) == (0, "")
    said: dict[str, Any] = json.loads(done.out)
    return said


def test_a_deny_rule_is_named_with_its_file_and_line(run: Run) -> None:
    said = explained(run, "bash", "--arg", "command=rm -rf /", "--agent", "deploy-1")

    assert (said["ruling"], said["line"]) == ("deny", "deny rule 1 of policy 1")
    assert said["rule"]["params"] == {"command": "rm -rf *"}
    assert Path(said["rule"]["place"]).name == "sayso.toml:4"
    assert said["section"]["agent"] == "deploy-*"


def test_arguments_may_be_given_as_json(run: Run) -> None:
    said = explained(run, "bash", "--arguments", '{"command": "rm -rf x"}', SAYSO_AGENT="deploy-1")

    assert said["ruling"] == "deny"


def test_a_rule_that_allows_once_is_not_used_up(run: Run) -> None:
    for _ in range(2):
        said = explained(run, "migrate", "--agent", "deploy-1")

        assert (said["ruling"], said["line"]) == ("allow", "allow-once rule 1 of policy 1")
    shown = run("explain", "migrate", "--agent", "deploy-1", toml=TOML).out
    assert "once in a session" in shown


def test_a_preset_says_what_its_tool_does_at_most(run: Run) -> None:
    done = run("explain", "Read", "--arg", "file_path=/x", "--agent", "bob", toml=TOML)

    assert done.code == 0
    assert "decision:    allowed: Read by agent bob" in done.out
    assert "preset coding: it reads a file (Claude Code)" in done.out


@pytest.mark.parametrize(("agent", "called"), [("bob", "policy 2"), ("cli", None)])
def test_where_nothing_is_said_of_a_call_a_person_is_asked(
    run: Run, agent: str, called: str | None
) -> None:
    said = explained(run, "Bash", "--agent", agent)

    assert (said["ruling"], said["rule"]) == ("ask", None)
    assert (said["section"] or {}).get("name") == called


async def test_with_a_session_what_it_remembers_counts_too(run: Run, store_url: str) -> None:
    always = a_rule("deploy")
    await _remember(store_url, always)

    argv = ("deploy", "--agent", "cli", "--session", "s-1")
    said = await asyncio.to_thread(explained, run, *argv, SAYSO_STORE_URL=store_url)
    alone = await asyncio.to_thread(explained, run, *argv[:3], SAYSO_STORE_URL=store_url)

    assert said["ruling"] == "allow"
    assert said["remembered"]["id"] == always.rule_id
    assert said["remembered"]["storedBy"] == "slack:U0ALICE"
    assert (alone["ruling"], alone["remembered"]) == ("ask", None)


async def test_with_a_folder_what_is_remembered_for_its_project_counts_too(
    run: Run, store_url: str, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "web").mkdir()
    project = project_of(project_folder(str(shop)))
    assert project is not None
    always = a_rule("deploy", scope="project")
    await _remember(store_url, always, RunRef("cli", "s-1", project=project))

    argv = ("deploy", "--session", "s-2", "--folder")
    said = await asyncio.to_thread(
        explained, run, *argv, str(shop / "web"), SAYSO_STORE_URL=store_url
    )
    other = await asyncio.to_thread(explained, run, *argv, str(tmp_path), SAYSO_STORE_URL=store_url)

    assert (said["ruling"], said["remembered"]["id"]) == ("allow", always.rule_id)
    assert (other["ruling"], other["remembered"]) == ("ask", None)


async def test_with_a_session_what_the_bots_deny_counts_too(run: Run, store_url: str) -> None:
    async with open_store(store_url) as backend:
        await backend.rules.set_guardrails(a_floor("deploy"))
        uses = len(await backend.audit.read(10))

        done = await asyncio.to_thread(
            run,
            *("explain", "deploy", "--session", "s-1"),
            env={"SAYSO_STORE_URL": store_url},
            toml=TOML,
        )

        assert "decision:    denied: deploy by agent cli" in done.out
        assert "the bots there deny it" in done.out
        assert len(await backend.audit.read(10)) == uses


def test_a_mistake_in_the_policy_is_told_with_its_line(run: Run) -> None:
    done = run("explain", "x", toml="[[policy]]\ndeny = [{ tol = 'x' }]\n")

    assert done.code == 2
    assert "sayso.toml line 2: policy 1.deny 1.tol" in done.err


async def _remember(url: str, rule: RememberedRule, run: RunRef | None = None) -> None:
    async with open_store(url) as backend:
        request = a_request(run=run or RunRef("cli", "s-1"))
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, a_response(request), remember=rule)
