"""Calls are held until somebody answers, whatever restarts meanwhile, and run once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support.mcp_room import McpRoom, call, done, is_error, modern, text
from support.valkey_server import Valkey

from sayso.stores.backend import Backend
from sayso.stores.connect import open_store

WANTS = {
    "resultType": "input_required",
    "inputRequests": {"name": {"method": "elicitation/create", "params": {"mode": "form"}}},
    "requestState": "theirs",
}
INPUT = {"name": {"action": "accept", "content": {"name": "Ada"}}}


@pytest.fixture
def room(backend: Backend) -> McpRoom:
    return McpRoom(backend)


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


async def test_an_answer_that_wants_input_passes_and_the_call_that_goes_on_is_asked_about(
    room: McpRoom,
) -> None:
    room.inner.answers = [WANTS, done()]
    first = asyncio.create_task(room.ask(call(meta=modern())))
    one = await room.decided()
    assert (await first)["result"] == WANTS

    sent = call(id_=2, meta=modern(), requestState="theirs", inputResponses=INPUT)
    again = asyncio.create_task(room.ask(sent))
    asked = await room.card()
    assert asked.permission_id != one
    assert "goes on with a call of the MCP server files" in asked.description
    await room.decided()

    assert text(await again) == "it ran"
    assert json.loads(room.inner.ran[1]) == sent


async def test_an_approval_of_a_call_is_none_of_the_same_call_with_input(room: McpRoom) -> None:
    lost = asyncio.create_task(room.ask(call(meta=modern())))
    await room.card()
    lost.cancel()
    await asyncio.wait({lost})
    one = await room.decided()

    sent = call(id_=2, meta=modern(), requestState="theirs", inputResponses=INPUT)
    again = asyncio.create_task(room.ask(sent))
    assert (await room.card()).permission_id != one
    await room.decided(approved=False)

    assert is_error(await again)
    assert room.inner.ran == []


async def test_a_call_that_needs_nobody_passes_with_what_the_server_gave(room: McpRoom) -> None:
    sent = call("look", meta=modern(), requestState="theirs")
    await room.ask(sent)

    assert [json.loads(one) for one in room.inner.ran] == [sent]


@pytest.mark.parametrize("meta", [None, modern()], ids=["older", "2026-07-28"])
async def test_a_wait_survives_a_restart_of_redis(meta: dict[str, Any] | None) -> None:
    server = Valkey(appendonly="yes")
    server.start()
    try:
        async with open_store(server.url) as backend:
            room = McpRoom(backend, patience=20.0)
            task = asyncio.create_task(room.ask(call(meta=meta)))
            await room.card()
            server.kill()
            await asyncio.to_thread(server.start)
            async with open_store(server.url) as others:
                await McpRoom(others).decided()
            assert text(await task) == "it ran"
    finally:
        server.close()
