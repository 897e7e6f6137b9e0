"""``requestState``: a client comes back for the end of its call, to this process or another."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest
from support.mcp_room import McpRoom, call, done, is_error, modern, text
from support.valkey_server import Valkey

from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso_bots.mcp.asking import Client, Limits

CHAT = "https://app.slack.com/client/T0123/C0123ABCD"
MUTATIONS = 1_000
PATIENT = Limits(hold=30.0, progress=0.05)


@pytest.fixture
def room(backend: Backend) -> McpRoom:
    return McpRoom(backend)


async def first(room: McpRoom, **more: Any) -> str:
    """Let a call be held for its time; what the client carries from there."""
    said = await room.ask(call(meta=modern(), **more))
    assert said["result"]["resultType"] == "input_required"
    state: str = said["result"]["requestState"]
    return state


async def test_a_call_that_is_not_answered_in_time_comes_back_and_finds_its_card(
    room: McpRoom,
) -> None:
    state = await first(room)
    asked = await room.card()
    again = await first(room, requestState=state)
    task = asyncio.create_task(room.ask(call(id_=9, meta=modern(), requestState=again)))
    assert await room.decided() == asked.permission_id
    said = await task

    assert said["id"] == 9
    assert text(said) == "it ran"
    assert len(room.inner.ran) == 1
    assert "requestState" not in json.loads(room.inner.ran[0])["params"]


async def test_another_process_with_the_same_keys_goes_on(backend: Backend) -> None:
    keys = (b"new" * 16, b"old" * 16)
    state = await first(McpRoom(backend, keys=keys[1:]))
    other = McpRoom(backend, keys=keys)
    await other.decided()

    assert text(await other.ask(call(meta=modern(), requestState=state))) == "it ran"


async def test_without_keys_in_the_settings_processes_share_one_by_their_store(
    backend: Backend,
) -> None:
    state = await first(McpRoom(backend))
    other = McpRoom(backend)
    await other.decided()

    assert text(await other.ask(call(meta=modern(), requestState=state))) == "it ran"


async def test_an_approval_is_used_once_however_often_its_state_comes(room: McpRoom) -> None:
    state = await first(room)
    await room.decided()
    said = await asyncio.gather(
        *(room.ask(call(id_=number, meta=modern(), requestState=state)) for number in range(1, 20))
    )

    assert sorted(map(is_error, said)) == [False] + [True] * 18
    assert len(room.inner.ran) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"tool": "erase"},
        {"arguments": {"path": "/srv/b"}},
        {"arguments": {"path": "/srv/a", "more": 1}},
        {"arguments": {}},
    ],
    ids=str,
)
async def test_a_state_is_of_one_call(room: McpRoom, changed: dict[str, Any]) -> None:
    state = await first(room)
    await room.decided()
    said = await room.ask(call(**{"tool": "write", **changed}, meta=modern(), requestState=state))

    assert is_error(said)
    assert room.inner.ran == []
    assert await room.open() == 0


async def test_a_state_is_of_one_principal(room: McpRoom) -> None:
    state = await first(room)
    await room.decided()
    said = await room.ask(
        call(meta=modern(), requestState=state), Client(principal="somebody-else")
    )

    assert is_error(said)
    assert room.inner.ran == []


async def test_a_state_ends(backend: Backend) -> None:
    room = McpRoom(backend)
    state = await first(room)
    await room.decided()
    sealed = await room.proxy.guard.approvals.seals()
    opened = sealed.opened(state)
    assert opened is not None
    old = sealed.seal(type(opened)(**{**_fields(opened), "until": opened.since}))
    said = await room.ask(call(meta=modern(), requestState=old))

    assert is_error(said)
    assert "waited for too long" in text(said)
    assert room.inner.ran == []


def _fields(state: Any) -> dict[str, Any]:
    return {name: getattr(state, name) for name in state.__slots__}


async def test_a_thousand_mutations_of_a_state_approve_nothing(room: McpRoom) -> None:
    state = await first(room)
    await room.decided()
    chance = random.Random(7)
    seen = {state}
    while len(seen) <= MUTATIONS:
        mutated = _mutated(state, chance)
        if mutated in seen:
            continue
        seen.add(mutated)
        assert is_error(await room.ask(call(meta=modern(), requestState=mutated)))

    assert room.inner.ran == []
    assert await room.open() == 0
    assert text(await room.ask(call(meta=modern(), requestState=state))) == "it ran"


_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. é"


def _mutated(state: str, chance: random.Random) -> str:
    at, sign = chance.randrange(len(state)), chance.choice(_SIGNS)
    other = chance.randrange(len(state))
    return chance.choice(
        [
            state[:at] + sign + state[at + 1 :],
            state[:at] + sign + state[at:],
            state[:at] + state[at + 1 :],
            state[:at],
            state[at:],
            state + sign,
            state[:at] + state[other:],
        ]
    )


async def test_a_state_of_somebody_elses_asks_nobody(room: McpRoom) -> None:
    said = await room.ask(call(meta=modern(), requestState="what-the-server-gave"))

    assert is_error(said)
    assert await room.open() == 0
    assert room.inner.ran == []


async def test_what_the_server_asks_its_client_for_passes_and_the_call_goes_on_once(
    backend: Backend,
) -> None:
    room = McpRoom(backend, limits=PATIENT)
    asks = {"name": {"method": "elicitation/create", "params": {"mode": "form"}}}
    wants = {"resultType": "input_required", "inputRequests": asks, "requestState": "theirs"}
    room.inner.answers = [wants, done()]
    task = asyncio.create_task(room.ask(call(meta=modern())))
    await room.decided()
    said = (await task)["result"]
    assert said["inputRequests"] == asks
    assert said["requestState"] != "theirs"

    answers = {"name": {"action": "accept", "content": {"name": "Ada"}}}
    again = call(id_=2, meta=modern(), requestState=said["requestState"], inputResponses=answers)
    assert text(await room.ask(again)) == "it ran"
    assert is_error(await room.ask({**again, "id": 3}))
    params = json.loads(room.inner.ran[1])["params"]
    assert (params["requestState"], params["inputResponses"]) == ("theirs", answers)
    assert len(room.inner.ran) == 2


async def test_what_goes_on_runs_with_the_arguments_as_they_were_edited(backend: Backend) -> None:
    room = McpRoom(backend, limits=PATIENT)
    room.inner.answers = [{"resultType": "input_required", "inputRequests": {}}, done()]
    task = asyncio.create_task(room.ask(call(meta=modern())))
    await room.decided(edited={"path": "/srv/other"})
    state = (await task)["result"]["requestState"]
    await room.ask(call(id_=2, meta=modern(), requestState=state))

    assert room.inner.arguments == [{"path": "/srv/other"}] * 2
    assert "requestState" not in json.loads(room.inner.ran[1])["params"]


async def test_a_call_that_needs_nobody_passes_with_what_the_server_gave(room: McpRoom) -> None:
    sent = call("look", meta=modern(), requestState="theirs")
    await room.ask(sent)

    assert [json.loads(one) for one in room.inner.ran] == [sent]


async def test_a_client_that_opens_addresses_is_shown_the_chat_and_opening_it_approves_nothing(
    backend: Backend,
) -> None:
    room = McpRoom(backend, limits=Limits(hold=0.1, progress=0.05, chat_url=CHAT))
    opens = modern(elicitation={"url": {}})
    said = (await room.ask(call(meta=opens)))["result"]
    (asks,) = said["inputRequests"].values()
    assert (asks["method"], asks["params"]["mode"]) == ("elicitation/create", "url")
    assert asks["params"]["url"] == CHAT

    for action in ("accept", "decline", "cancel"):
        answers = {"chat": {"action": action}}
        again = call(meta=opens, requestState=said["requestState"], inputResponses=answers)
        said = (await room.ask(again))["result"]
        assert said["resultType"] == "input_required"
        assert "inputRequests" not in said
    assert room.inner.ran == []


@pytest.mark.parametrize("able", [{}, {"elicitation": {}}, {"elicitation": {"form": {}}}], ids=str)
async def test_a_client_that_does_not_say_so_is_shown_no_address(
    backend: Backend, able: dict[str, Any]
) -> None:
    room = McpRoom(backend, limits=Limits(hold=0.1, progress=0.05, chat_url=CHAT))
    said = (await room.ask(call(meta=modern(**able))))["result"]

    assert "inputRequests" not in said


async def test_the_same_call_from_a_client_that_forgot_everything_finds_the_open_card(
    backend: Backend,
) -> None:
    killed = McpRoom(backend)
    lost = asyncio.create_task(killed.ask(call()))
    asked = await killed.card()
    await asyncio.sleep(0.05)
    again = McpRoom(backend)
    task = asyncio.create_task(again.ask(call(id_=2)))
    await asyncio.sleep(0.05)
    assert await again.open() == 1
    await again.decided()
    said = [await task, await lost]

    assert sorted(map(is_error, said)) == [False, True]
    assert len(killed.inner.ran) + len(again.inner.ran) == 1
    assert await again.outcome(asked.permission_id) == "approved"


@pytest.mark.parametrize("meta", [None, modern()], ids=["older", "2026-07-28"])
async def test_a_wait_survives_a_restart_of_redis(meta: dict[str, Any] | None) -> None:
    server = Valkey(appendonly="yes")
    server.start()
    try:
        async with open_store(server.url) as backend:
            room = McpRoom(backend, limits=PATIENT, patience=20.0)
            task = asyncio.create_task(room.ask(call(meta=meta)))
            await room.card()
            server.kill()
            await asyncio.to_thread(server.start)
            async with open_store(server.url) as others:
                await McpRoom(others).decided()
            assert text(await task) == "it ran"
    finally:
        server.close()
