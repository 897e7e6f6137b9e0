"""Calls that become tasks: a client asks how they stand, also of a process that began later."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support.mcp_room import McpRoom, call, done, is_error, modern, request, tasks, text

from sayso.calls import new_id
from sayso.stores.backend import Backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.mcp.asking import Client


@pytest.fixture
def room(backend: Backend) -> McpRoom:
    return McpRoom(backend)


async def begun(room: McpRoom) -> str:
    """A call that has become a task; its id."""
    said = (await room.ask(call(meta=tasks())))["result"]
    assert (said["resultType"], said["status"]) == ("task", "working")
    task_id: str = said["taskId"]
    return task_id


async def look(room: McpRoom, task_id: str, method: str = "get", **more: Any) -> dict[str, Any]:
    """What a client reads of a task."""
    params = {"taskId": task_id, "_meta": tasks(), **more}
    said = await room.ask(request(f"tasks/{method}", params, new_id()))
    assert said["result"]["resultType"] == "complete"
    result: dict[str, Any] = said["result"]
    return result


async def ended(room: McpRoom, task_id: str) -> dict[str, Any]:
    """The task, when it has ended."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (said := await look(room, task_id))["status"] == "working":
            await asyncio.sleep(0.02)
    return said


async def test_an_approved_task_has_the_result_of_the_server(room: McpRoom) -> None:
    task_id = await begun(room)
    assert (await look(room, task_id))["status"] == "working"
    await room.decided()
    said = await ended(room, task_id)

    assert said["status"] == "completed"
    assert said["result"] == done()
    assert room.inner.arguments == [{"path": "/srv/a"}]


async def test_the_server_is_not_told_that_it_could_answer_with_a_task_of_its_own(
    room: McpRoom,
) -> None:
    task_id = await begun(room)
    await room.decided()
    await ended(room, task_id)

    (ran,) = map(json.loads, room.inner.ran)
    assert ran["params"]["_meta"] == modern()
    assert ran["params"]["arguments"] == {"path": "/srv/a"}


async def test_a_denied_task_is_completed_with_an_error_and_has_not_failed(room: McpRoom) -> None:
    task_id = await begun(room)
    await room.decided(approved=False, reason="Not on a Friday")
    said = await ended(room, task_id)

    assert said["status"] == "completed"
    assert is_error(said)
    assert "Not on a Friday" in text(said)
    assert room.inner.ran == []


async def test_a_task_exists_before_its_client_hears_of_it(backend: Backend) -> None:
    room, other = McpRoom(backend), McpRoom(backend)
    task_id = await begun(room)

    assert (await look(other, task_id))["status"] == "working"


async def test_a_task_goes_on_in_a_process_that_began_later(backend: Backend) -> None:
    killed = McpRoom(backend)
    task_id = await begun(killed)
    await killed.proxy.tasks.finish()
    later = McpRoom(backend)
    assert (await look(later, task_id))["status"] == "working"
    await later.decided()
    said = await ended(later, task_id)

    assert said["result"] == done()
    assert (killed.inner.ran, later.inner.arguments) == ([], [{"path": "/srv/a"}])


async def test_of_many_processes_one_runs_the_call(backend: Backend) -> None:
    rooms = [McpRoom(backend) for _ in range(4)]
    task_id = await begun(rooms[0])
    await asyncio.gather(*(look(room, task_id) for room in rooms))
    await rooms[0].decided()
    said = [await ended(room, task_id) for room in rooms]

    assert [one["result"] for one in said] == [done()] * 4
    assert sum(len(room.inner.ran) for room in rooms) == 1


async def test_a_cancelled_task_takes_its_card_back(room: McpRoom) -> None:
    task_id = await begun(room)
    asked = await room.card()
    await look(room, task_id, "cancel")

    assert (await ended(room, task_id))["status"] == "cancelled"
    assert await room.outcome(asked.permission_id) == "cancelled"
    assert room.inner.ran == []


async def test_an_update_of_a_task_approves_nothing(room: McpRoom) -> None:
    task_id = await begun(room)
    answers = {"approval": {"action": "accept", "content": {"approved": True}}}
    await look(room, task_id, "update", inputResponses=answers)

    assert (await look(room, task_id))["status"] == "working"
    assert room.inner.ran == []


async def test_a_task_is_of_one_principal(room: McpRoom) -> None:
    task_id = await begun(room)
    params = {"taskId": task_id, "_meta": tasks()}
    for method in ("get", "update", "cancel"):
        said = await room.ask(request(f"tasks/{method}", params), Client(principal="other"))
        assert said["error"]["code"] == -32602
    assert await room.open() == 1


async def test_a_client_that_does_not_take_tasks_gets_none_and_reads_none(room: McpRoom) -> None:
    task_id = await begun(room)
    said = await room.ask(request("tasks/get", {"taskId": task_id, "_meta": modern()}))

    assert said["error"]["code"] == -32021
    assert (await room.ask(call(id_=5, meta=modern())))["result"]["resultType"] == "input_required"


async def test_tasks_of_the_server_are_its_own_business(room: McpRoom) -> None:
    await room.ask(request("tasks/get", {"taskId": "theirs", "_meta": tasks()}))

    (passed,) = map(json.loads, room.inner.others)
    assert passed["params"]["taskId"] == "theirs"


async def test_who_asks_what_the_server_can_hears_of_tasks(room: McpRoom) -> None:
    room.inner.answers = [{"capabilities": {"tools": {}}, "supportedVersions": ["2026-07-28"]}]
    said = await room.ask(request("server/discover", {"_meta": tasks()}))

    able = said["result"]["capabilities"]
    assert able == {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}


async def test_an_error_of_the_server_fails_the_task(room: McpRoom) -> None:
    room.inner.answers = [{"error": {"code": -32602, "message": "no such tool"}}]
    task_id = await begun(room)
    await room.decided()
    said = await ended(room, task_id)

    assert (said["status"], said["error"]["message"]) == ("failed", "no such tool")
