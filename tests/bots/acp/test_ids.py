"""An answer of the editor counts for the request that it answers, whatever ids an agent gives."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from support.acp_room import Room, a_call, a_room, permission, selected

from sayso.stores.backend import Backend
from sayso.testing import until


@pytest_asyncio.fixture
async def room(backend: Backend, tmp_path: Path) -> AsyncIterator[Room]:
    room = a_room(backend, tmp_path)
    yield room
    await room.proxy.close()


async def test_a_late_answer_of_the_editor_is_not_taken_for_one_to_a_later_request(
    room: Room,
) -> None:
    await room.agent_says(permission())
    await room.editor_is_asked()
    await room.deny()
    assert await room.agent_reads() == selected("no")
    reading = {"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {}}
    for again in (permission(toolCall=a_call("call-2", kind="delete")), permission(), reading):
        await room.agent_says(again)
        assert (await room.agent_reads())["error"]["code"] == -32600
    await room.editor_says(selected("yes"))
    assert await room.backend.store.list_requests() == []
    assert selected("yes") not in map(json.loads, room.agent)

    # It has answered, so the id is free.
    room.agent.clear()
    asked = permission(toolCall=a_call("call-3"))
    await room.agent_says(asked)

    async def heard() -> bool:
        return asked in map(json.loads, room.editor)

    await until(heard)
    request = await room.question()
    await room.editor_says(selected("yes"))
    assert await room.agent_reads() == selected("yes")
    assert (await room.ending(request.question_id))[:2] == ("approved", "acp:editor")


async def test_a_request_is_not_asked_under_the_id_of_one_that_the_editor_has_yet_to_answer(
    room: Room,
) -> None:
    reading = {"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {}}
    await room.agent_says(reading)
    await room.agent_says(permission())
    assert (await room.agent_reads())["error"]["code"] == -32600
    await room.editor_says({"jsonrpc": "2.0", "id": 1, "result": selected("yes")["result"]})

    assert await room.backend.store.list_requests() == []
    assert len(room.agent) == 2
