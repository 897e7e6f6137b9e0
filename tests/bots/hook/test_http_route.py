"""Claude Code's HTTP hook: no 2xx without a decision, which a policy or a person has made."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from support.hook_server import TOKEN, HookServer, hook_server
from support.hooked import Machine, event, until_asked
from support.ports import free_port

from sayso import Outcome
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.asking.service import Requester
from sayso_bots.config.store_settings import read_ask_settings
from sayso_bots.hook.agents import CLAUDE_CODE
from sayso_bots.hook.events import is_answer
from sayso_bots.hook.http_hook import DECIDE_PATH, REPORT_PATH
from sayso_bots.hook.http_route import HookRoute

NAME = "PreToolUse"


@pytest.fixture
async def server(machine: Machine) -> AsyncIterator[HookServer]:
    async with hook_server(machine) as server:
        yield server


async def decision(server: HookServer, text: bytes) -> tuple[str, str]:
    """What the route decides, and why."""
    status, body = await server.post(text)
    assert status == 200, body
    answer = json.loads(body)
    assert is_answer(answer, NAME)
    said = answer["hookSpecificOutput"]
    return said["permissionDecision"], said["permissionDecisionReason"]


async def outcome(store: Backend, question_id: str) -> Outcome | None:
    record = await store.store.get(question_id)
    assert record is not None
    return None if record.ending is None else record.ending.outcome


async def test_the_policy_decides_without_anybody(server: HookServer) -> None:
    allowed, denied = await decision(server, event("read")), await decision(server, event("rm"))

    assert (allowed[0], denied[0]) == ("allow", "deny")
    assert "deny rule 1" in denied[1]


@pytest.mark.parametrize("approved", [True, False])
async def test_a_person_decides_and_the_audit_says_who(
    server: HookServer, store: Backend, approved: bool
) -> None:
    asking = asyncio.create_task(decision(server, event("write", text="x")))
    request = await until_asked(store)
    give = request.approve if approved else request.deny
    await store.store.settle(request.question_id, give(by="slack:U0ALICE", reason="Friday"))

    assert (await asking)[0] == ("allow" if approved else "deny")
    entries = [one for one in await store.audit.read(50) if one.question_id == request.question_id]
    assert "slack:U0ALICE" in {one.by for one in entries}


async def test_arguments_that_a_person_edited_run_in_place_of_the_others(
    server: HookServer, store: Backend
) -> None:
    asking = asyncio.create_task(server.post(event("write", text="x")))
    request = await until_asked(store)
    answer = request.approve(by="slack:U0ALICE", modified_arguments={"text": "y"})
    await store.store.settle(request.question_id, answer)
    _, body = await asking

    assert json.loads(body)["hookSpecificOutput"]["updatedInput"] == {"text": "y"}


BEARERS = {
    "none": {},
    "another": {"Authorization": f"Bearer {TOKEN[:-1]}x"},
    "the token alone": {"Authorization": TOKEN},
    "not UTF-8": {"Authorization": "Bearer \udcff"},
}


async def test_a_process_without_the_token_asks_nothing_and_decides_nothing(
    server: HookServer, store: Backend
) -> None:
    statuses = {
        (path, name): (await server.post(event("read"), path=path, headers=headers))[0]
        for path in (DECIDE_PATH, REPORT_PATH)
        for name, headers in BEARERS.items()
    }

    assert statuses == dict.fromkeys(statuses, 401)
    assert await store.audit.read(50) == []
    assert await store.store.list_requests() == []


async def test_a_process_with_the_token_can_ask_and_its_own_yes_counts_for_nothing(
    server: HookServer, store: Backend
) -> None:
    """Whatever stands beside the call in the event, the request waits for a person."""
    said = json.loads(event("write", text="x"))
    claims = {"permissionDecision": "allow", "decision": "approve", "approved": True}
    text = json.dumps({**said, **claims, "hookSpecificOutput": claims}).encode()
    asking = asyncio.create_task(decision(server, text))
    request = await until_asked(store)
    await store.store.settle(request.question_id, request.deny(by="slack:U0ALICE"))

    assert (await asking)[0] == "deny"


WRONG: dict[str, tuple[str, str, bytes]] = {
    "nothing": ("POST", DECIDE_PATH, b""),
    "no JSON": ("POST", DECIDE_PATH, b"{"),
    "not UTF-8": ("POST", DECIDE_PATH, b"\xff"),
    "a list": ("POST", DECIDE_PATH, b"[]"),
    "no event": ("POST", DECIDE_PATH, b"{}"),
    "half an event": ("POST", DECIDE_PATH, event("read")[:-9]),
    "a name twice": ("POST", DECIDE_PATH, event("read")[:-1] + b', "tool_name": "read"}'),
    "another event": ("POST", DECIDE_PATH, event("read").replace(b"PreToolUse", b"PostToolUse")),
    "a session's end": ("POST", DECIDE_PATH, event("read").replace(b"PreToolUse", b"Stop")),
    "no session": ("POST", DECIDE_PATH, event("read").replace(b"s-1", b" ")),
    "another method": ("GET", DECIDE_PATH, b""),
    "another path": ("POST", "/", event("read")),
    "a path below": ("POST", f"{DECIDE_PATH}/", event("read")),
    "an event before a call as a report": ("POST", REPORT_PATH, event("read")),
    "no JSON as a report": ("POST", REPORT_PATH, b"{"),
    "a request for permission as a report": (
        "POST",
        REPORT_PATH,
        event("read").replace(b"PreToolUse", b"PermissionRequest"),
    ),
}


async def test_what_is_no_event_before_a_call_is_no_2xx(server: HookServer) -> None:
    statuses = {
        name: (await server.post(body, path=path, method=method))[0]
        for name, (method, path, body) in WRONG.items()
    }

    assert [name for name, status in statuses.items() if not 400 <= status < 500] == []


async def test_settings_that_are_broken_by_now_are_a_denial_that_says_where(
    server: HookServer, machine: Machine
) -> None:
    (machine.folder / "sayso.toml").write_text("[[policy]]\nallow = 7\n")

    said, why = await decision(server, event("read"))

    assert said == "deny"
    assert "allow" in why


async def test_settings_count_from_the_next_call_on(server: HookServer, machine: Machine) -> None:
    before = await decision(server, event("read"))
    (machine.folder / "sayso.toml").write_text('[[policy]]\ndeny = [{ tool = "read" }]\n')
    after = await decision(server, event("read", "toolu_2"))

    assert (before[0], after[0]) == ("allow", "deny")


async def test_settings_that_name_another_store_by_now_are_a_denial() -> None:
    settings = read_ask_settings(os.devnull, {}, store_url="redis://there")
    async with memory_backend() as backend:
        route = HookRoute(
            backend, "redis://here", TOKEN, lambda: (settings, Requester("claude-code", 5, 1))
        )
        app = web.Application()
        app.add_routes(route.routes())
        async with TestClient(TestServer(app)) as client:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            answer = await client.post(DECIDE_PATH, data=event("read"), headers=headers)
            said = (await answer.json())["hookSpecificOutput"]
        asked = await backend.audit.read(50)

    assert (said["permissionDecision"], asked) == ("deny", [])
    assert "another store" in said["permissionDecisionReason"]


async def test_a_store_that_is_away_is_a_denial_after_its_patience(machine: Machine) -> None:
    nowhere = ("--store", f"redis://127.0.0.1:{free_port()}", "--patience", "100ms")
    async with hook_server(machine, *nowhere) as server:
        said, why = await decision(server, event("read"))

    assert said == "deny"
    assert "Redis" in why


async def test_a_question_that_nobody_answers_is_a_denial(machine: Machine) -> None:
    async with hook_server(machine, "--timeout", "300ms") as server:
        said, why = await decision(server, event("write"))

    assert said == "deny"
    assert "in time" in why


async def test_a_client_that_leaves_withdraws_its_question(
    server: HookServer, store: Backend
) -> None:
    leaving = asyncio.create_task(server.post(event("write", text="x")))
    request = await until_asked(store)
    leaving.cancel()
    await asyncio.wait({leaving})

    async with asyncio.timeout(PATIENCE_SECONDS):
        while await outcome(store, request.question_id) is None:
            await asyncio.sleep(0.02)
    assert await outcome(store, request.question_id) is Outcome.CANCELLED


async def test_the_end_of_the_server_withdraws_the_questions_and_is_no_2xx(
    machine: Machine, store: Backend
) -> None:
    async with hook_server(machine) as server:
        asking = asyncio.create_task(server.post(event("write", text="x")))
        request = await until_asked(store)
        await server.stop()
        with pytest.raises(aiohttp.ClientError):
            await asking

    assert await outcome(store, request.question_id) is Outcome.CANCELLED


def after(name: str = "PostToolUse", call_id: str = "toolu_1") -> bytes:
    """A call after it ran, as Claude Code tells of it."""
    said = json.loads(event("write", call_id, text="x")) | {"hook_event_name": name}
    return json.dumps({**said, "tool_response": {"stdout": "nobody's business"}}).encode()


@asynccontextmanager
async def approved(server: HookServer, store: Backend) -> AsyncIterator[str]:
    asking = asyncio.create_task(decision(server, event("write", text="x")))
    request = await until_asked(store)
    await store.store.settle(request.question_id, request.approve(by="slack:U0ALICE"))
    assert (await asking)[0] == "allow"
    yield request.question_id


@pytest.mark.parametrize(("name", "went"), CLAUDE_CODE.outcomes.items())
async def test_a_card_says_how_its_call_went(
    server: HookServer, store: Backend, name: str, went: str
) -> None:
    async with approved(server, store) as question_id:
        assert await server.post(after(name), path=REPORT_PATH) == (204, b"")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (use := await used(store, question_id)) is None or use.report is None:
                await asyncio.sleep(0.01)

    assert use.report.went == went


async def test_an_approval_lets_no_call_run_after_the_one_that_ran(
    server: HookServer, store: Backend
) -> None:
    async with approved(server, store) as question_id:
        assert (await decision(server, event("write", text="x")))[0] == "allow"
        await server.post(after(), path=REPORT_PATH)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await used(store, question_id) is None:
                await asyncio.sleep(0.01)
        said, why = await decision(server, event("write", text="x"))

    assert (said, "ran already" in why) == ("deny", True)
    assert await store.store.list_requests() == []


async def test_of_a_call_that_nobody_was_asked_about_nothing_is_told(
    server: HookServer, store: Backend
) -> None:
    async with approved(server, store) as question_id:
        assert await server.post(after(call_id="toolu_9"), path=REPORT_PATH) == (204, b"")
        await server.stop()

    assert await used(store, question_id) is None


async def used(store: Backend, question_id: str) -> Any:
    record = await store.store.get(question_id)
    assert record is not None
    return record.use


@pytest.mark.parametrize(
    ("options", "env", "why"),
    [
        (("--listen", "0.0.0.0:0"), {}, "this machine alone"),
        (("--listen", "here"), {}, "write HOST:PORT"),
        ((), {"SAYSO_HOOK_TOKEN": ""}, "SAYSO_HOOK_TOKEN is not set"),
        ((), {"SAYSO_HOOK_TOKEN": "short"}, "less than 32 characters"),
        (("--store", "memory://"), {}, "memory://"),
        (("--store", "redis://:geheim@there"), {}, "--store holds a password"),
    ],
    ids=str,
)
async def test_it_does_not_serve_other_machines_nor_without_a_token(
    machine: Machine, options: tuple[str, ...], env: dict[str, str], why: str
) -> None:
    done = await machine.run(
        "hook", "serve", *options, text=b"", **{"SAYSO_HOOK_TOKEN": TOKEN, **env}
    )

    assert (done.code, done.out) == (2, "")
    assert why in done.err
