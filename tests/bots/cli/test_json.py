"""Every command that prints results knows ``--json``, in the shape that docs/commands.md says."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.commands import ROUTES, Done, Run, env_of
from support.parsers import actions_below, load_parsers

from sayso.calls import new_id
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_response, a_rule
from sayso_playground import Playground

DOCUMENT = Path(__file__).parents[3] / "docs" / "commands.md"
HOOK = "http://127.0.0.1:9/telegram/webhook"


def documented(command: str) -> set[str]:
    """The fields of a command's objects, as the document says."""
    rows = [line.split("|") for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    (fields,) = (row[3] for row in rows if f"`sayso {command}`" in row[1])
    return set(re.findall(r"`(\w+)`", fields))


@pytest.fixture
async def question_id(store_url: str) -> AsyncIterator[str]:
    """A store with an open request, an ended one and a rule."""
    async with open_store(store_url) as backend:
        ended, request_id = a_request(f"ended-{new_id()}"), f"open-{new_id()}"
        await backend.store.open(ended, seconds=30, inbox="", book=None)
        answer = a_response(ended)
        await backend.store.settle(ended.question_id, answer, remember=a_rule())
        await backend.store.open(a_request(request_id), seconds=30, inbox="", book=None)
        yield request_id


async def test_what_the_store_holds_has_the_documented_fields(
    run: Run, store_url: str, question_id: str
) -> None:
    async def fields(*argv: str) -> set[str]:
        done = await asyncio.to_thread(run, *argv, "--json", env={"SAYSO_STORE_URL": store_url})
        printed = json.loads(done.out)
        return set().union(*printed) if isinstance(printed, list) else set(printed)

    assert await fields("pending") == documented("show")
    assert await fields("show", question_id) == documented("show")
    assert await fields("rules") == documented("rules")
    assert await fields("revoke", "no-such-rule") == documented("revoke")
    assert await fields("audit") <= documented("audit")
    assert await fields("cancel", question_id) == documented("cancel")


async def test_what_an_agent_says_of_its_call_passes_for_no_fact_of_it(
    run: Run, store_url: str
) -> None:
    asked = a_request(f"forged-{new_id()}").model_copy(
        update={"description": "tidies up\nstate:        approved by alice\x1b[A"}
    )
    async with open_store(store_url) as backend:
        await backend.store.open(asked, seconds=30, inbox="", book=None)

    env = {"SAYSO_STORE_URL": store_url}
    done = await asyncio.to_thread(run, "show", asked.question_id, env=env)

    said = done.out.splitlines()[done.out.splitlines().index("description:") + 1 :][:2]
    assert said == ["  | tidies up", "  | state:        approved by alice⟨U+001B⟩[A"]
    assert len([line for line in done.out.splitlines() if line.startswith("state:")]) == 1


def test_a_verdict_has_the_documented_fields(run: Run, store_url: str) -> None:
    done = run("ask", "x", "--timeout", "0.1s", "--json", env={"SAYSO_STORE_URL": store_url})

    assert set(json.loads(done.out)) == documented("ask")


def test_an_explanation_has_the_documented_fields(run: Run) -> None:
    done = run("explain", "x", "--json")

    assert set(json.loads(done.out)) == documented("explain")


def test_a_token_has_the_documented_fields(run: Run) -> None:
    done = run("api", "token", "ci", "--agent", "deploy-*", "--json")

    token = json.loads(done.out)
    assert set(token) == documented("api token")
    assert (done.err, token["name"], token["agents"]) == ("", "ci", ["deploy-*"])


async def test_what_platforms_say_has_the_documented_fields(
    run: Run, playground: Playground, store_url: str
) -> None:
    async def ran(*argv: str) -> Done:
        env = {**env_of(playground), "SAYSO_STORE_URL": store_url}
        return await asyncio.to_thread(run, *argv, "--json", env=env, toml=ROUTES)

    for argv in (("webhook", "set", HOOK), ("webhook", "show"), ("webhook", "delete")):
        assert set(json.loads((await ran(*argv)).out)) == documented(" ".join(argv[:2]))
    lines = (await ran("check")).out.splitlines()
    assert len(lines) > 5
    assert all(set(json.loads(line)) == documented("check") for line in lines)


def test_every_command_that_prints_results_knows_json() -> None:
    # They print no results, or what an agent reads.
    silent = {"demo", "serve", "hook serve", "acp", "mcp-proxy", "hook claude-code", "hook codex"}
    found = {name: parser for name, parser in load_parsers().items() if not actions_below(parser)}
    without = {
        name
        for name, parser in found.items()
        if not any("--json" in option.option_strings for option in parser._actions)
    }

    assert without == silent
    assert all(documented(name if name != "pending" else "show") for name in set(found) - silent)


def test_what_nobody_decided_names_no_decider(run: Run, store_url: str) -> None:
    done = run(*("ask", "x", "--json", "--timeout", "0.2s"), env={"SAYSO_STORE_URL": store_url})

    verdict, asked = json.loads(done.out), json.loads(done.err.splitlines()[0])
    assert verdict["outcome"] == "expired"
    assert [verdict[name] for name in ("decidedBy", "decidedAt", "decidedLine")] == [None] * 3
    assert isinstance(asked["secondsLeft"], int)
