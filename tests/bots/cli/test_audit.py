"""``sayso audit``: of a time, an agent, a person, a tool; and as it happens."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from support.commands import Done, Run, process
from support.valkey_server import Valkey

from sayso.calls import RunRef
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_response

ALICE, BOB = "slack:U0ALICE", "telegram:42"


async def decide(backend: Backend, agent: str, tool: str, by: str) -> str:
    """A request of an agent about a tool that somebody decides; its id."""
    request = a_request(tool=tool, run=RunRef(agent, "s-1"))
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle(request.question_id, a_response(request, by=by))
    return request.question_id


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with open_store(store_url) as backend:
        await decide(backend, "ci-1", "deploy", ALICE)
        await decide(backend, "ci-2", "bash", BOB)
        yield backend


@pytest.fixture
def audit(run: Run, store_url: str, backend: Backend) -> Callable[..., Any]:
    """Run the command beside the loop; what it prints as JSON."""
    del backend  # what happened is in the store

    async def printed(*argv: str) -> list[dict[str, Any]]:
        env = {"SAYSO_STORE_URL": store_url}
        done: Done = await asyncio.to_thread(run, "audit", "--json", *argv, env=env)
        assert done.code == 0, done.err
        entries: list[dict[str, Any]] = json.loads(done.out)
        return entries

    return printed


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (("--agent", "ci-1"), {("asked", "ci-1"), ("approved", "ci-1")}),
        (("--agent", "ci-*", "--tool", "bash"), {("asked", "ci-2"), ("approved", "ci-2")}),
        (("--person", ALICE), {("approved", "ci-1")}),
        (("--person", "telegram:*", "--last", "1"), {("approved", "ci-2")}),
        (("--tool", "nothing"), set()),
        (("--since", "1h", "--person", BOB), {("approved", "ci-2")}),
        (("--until", "1h"), set()),
        (("--since", "2999-01-01"), set()),
    ],
)
async def test_only_what_is_asked_for_is_listed(
    audit: Callable[..., Any], argv: tuple[str, ...], found: set[tuple[str, str]]
) -> None:
    assert {(one["kind"], one["agentId"]) for one in await audit(*argv)} == found


async def test_a_time_may_be_taken_from_an_entry_and_since_lists_all_of_it(
    audit: Callable[..., Any], backend: Backend
) -> None:
    for _ in range(30):
        await decide(backend, "busy", "ls", ALICE)
    *_, last = await audit("--agent", "ci-2")

    since, before = await audit("--since", last["at"]), await audit("--until", last["at"])

    assert last in since
    assert last not in before
    assert len([one for one in since if one["agentId"] == "busy"]) == 60
    assert len(await audit()) == 50


async def test_every_entry_names_its_request_as_all_commands_do(
    run: Run, store_url: str, audit: Callable[..., Any], backend: Backend
) -> None:
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    env = {"SAYSO_STORE_URL": store_url}

    listed = [one["requestId"] for one in await audit("--tool", request.function_name)]
    for argv in (("show",), ("cancel",)):
        done = await asyncio.to_thread(run, *argv, request.question_id, "--json", env=env)
        listed.append(json.loads(done.out)["requestId"])

    assert set(listed) == {request.question_id}


@pytest.mark.parametrize("json_lines", [True, False])
async def test_whoever_follows_reads_what_happened_and_then_each_thing_as_it_happens(
    store_url: str, backend: Backend, *, json_lines: bool
) -> None:
    argv = ("audit", "--follow", "--person", "*:*", "--last", "1")
    more = ("--json",) if json_lines else ()
    async with process(*argv, *more, env={"SAYSO_STORE_URL": store_url}) as following:
        out = following.process.stdout
        assert out is not None
        first = (await out.readline()).decode()
        new = await decide(backend, "ci-3", "rm\nforged", ALICE)
        second = (await out.readline()).decode()
        following.process.send_signal(signal.SIGINT)
        done = await following.ended()

    assert BOB in first
    assert new in second
    assert "ci-3" in second
    assert done.code == 130
    if json_lines:
        assert json.loads(second)["requestId"] == new


async def test_whoever_follows_reads_on_after_the_store_was_away() -> None:
    server = Valkey(appendonly="yes", appendfsync="always")
    server.start()
    try:
        argv = ("audit", "--follow", "--person", "*:*")
        async with process(*argv, env={"SAYSO_STORE_URL": server.url}) as following:
            out = following.process.stdout
            assert out is not None
            async with open_store(server.url) as backend:
                before = await decide(backend, "ci-1", "deploy", ALICE)
            assert before in (await out.readline()).decode()
            server.kill()
            away = await following.line_with("it goes on when the store answers")
            server.start()
            await following.line_with("the store answers again")
            async with open_store(server.url) as backend:
                new = await decide(backend, "ci-2", "bash", BOB)
            after = (await out.readline()).decode()
            following.process.send_signal(signal.SIGINT)
            done = await following.ended()
    finally:
        server.close()

    assert "127.0.0.1" in away
    assert new in after
    assert done.code == 130


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--since", "yesterday"), "2026-01-15"),
        (("--until", "25:00"), "2h or 7d"),
        (("--follow", "--until", "1h"), "leave out --until"),
    ],
)
def test_what_makes_no_sense_is_explained(run: Run, argv: tuple[str, ...], said: str) -> None:
    done = run("audit", *argv, env={"SAYSO_STORE_URL": "redis://127.0.0.1:1"})

    assert done.code == 2
    assert said in done.err
