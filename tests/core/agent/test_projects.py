"""Projects: what an agent works on is its own claim, and rules can be stored for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from sayso import Gate, Outcome, RunRef, ToolCall, connect
from sayso.agent.place import project_of
from sayso.calls import Folder
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode_request, encode
from sayso.rules.rule import literal_rule
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_request, a_rule
from sayso.testing.rules_contract import remember
from sayso_bots.cli.ask import prepared
from sayso_bots.cli.parser import sayso_parser

CALL = ToolCall("bash", {"command": "make deploy"})
SHOP = RunRef("claude-code", "s-1", project="/src/shop")
LATER = replace(SHOP, session_id="s-2")


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def test_an_always_deny_for_a_project_denies_in_every_session_of_it(
    backend: Backend,
) -> None:
    denial = replace(a_rule("bash", effect="deny", scope="project"), rule=literal_rule(CALL))
    await remember(backend, denial, SHOP)

    async with Gate.open(backend, run=LATER) as gate:
        verdict = await gate.check(CALL, timeout=30)
    async with Gate.open(backend, run=replace(LATER, project="/src/other")) as gate:
        other = await gate.check(CALL, timeout=0.3)

    assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "remembered always deny")
    assert other.outcome is Outcome.EXPIRED


async def test_an_always_for_a_project_allows_in_its_next_session(backend: Backend) -> None:
    grant = replace(a_rule("bash", scope="project"), rule=literal_rule(CALL))
    await remember(backend, grant, SHOP)

    async with Gate.open(backend, run=LATER) as gate:
        verdict = await gate.check(CALL, timeout=30)

    assert verdict.approved


async def test_a_gate_reads_session_agent_and_project_in_one_look(backend: Backend) -> None:
    looks = []
    book = backend.rules.book

    async def counted(run: RunRef) -> object:
        looks.append(run)
        return await book(run)

    await remember(backend, a_rule("other", scope="project"), SHOP)
    backend.rules.book = counted  # type: ignore[method-assign,assignment]
    async with Gate.open(backend, run=LATER) as gate:
        await gate.check(CALL, timeout=0.3)

    assert looks == [LATER]


def test_a_project_is_a_claim_that_every_door_can_make(store_url: str) -> None:
    with connect(store_url, agent="a", session="s", project="/src/shop") as handle:
        assert handle.run() == RunRef("a", "s", project="/src/shop")

    words = ["ask", "bash", "--store", store_url, "--session", "s"]
    env = {"SAYSO_PROJECT": "/src/shop"}
    assert prepared(sayso_parser().parse_args(words), env).run.project == "/src/shop"
    words += ["--project", "/src/other"]
    assert prepared(sayso_parser().parse_args(words), env).run.project == "/src/other"


def test_a_hook_names_the_root_of_the_project_it_works_in() -> None:
    assert project_of(Folder("/src/shop", "/src/shop/web")) == "/src/shop"
    assert project_of(Folder("/")) == ""
    assert project_of(None) == ""


def test_a_card_shows_the_project_and_the_wire_has_none_where_there_is_none() -> None:
    request = a_request(run=SHOP)

    assert ("Project", "/src/shop") in request.card().facts
    assert decode_request(encode(request)) == request
    without = a_request()
    assert b"project" not in encode(without)
    assert isinstance(decode_request(encode(without)), PermissionRequestEvent)
