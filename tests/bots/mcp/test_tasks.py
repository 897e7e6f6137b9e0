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

BIG = 12345678901234567890123
"""A number that no double holds."""


@pytest.fixture
def room(backend: Backend) -> McpRoom:
    return McpRoom(backend)


async def begun(room: McpRoom) -> str:
    """A call that has become a task; its id."""
    said = (await room.ask(call(meta=tasks())))["result"]
    assert (said["resultType"], said.get("status")) == ("task", "working"), said
    task_id: str = said["taskId"]
    return task_id


async def look(room: McpRoom, task_id: str, method: str = "get", **more: Any) -> dict[str, Any]:
    """What a client reads of a task."""
    params = {"taskId": task_id, "_meta": tasks(), **more}
    said = await room.ask(request(f"tasks/{method}", params, new_id()))
    assert said["result"]["resultType"] == "complete"
    result: dict[str, Any] = said["result"]
    return result


async def wants(room: McpRoom, task_id: str) -> dict[str, Any]:
    """What the server of a task wants of its client, when it does."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (said := await look(room, task_id))["status"] == "working":
            await asyncio.sleep(0.02)
    assert said["status"] == "input_required"
    found: dict[str, Any] = said["inputRequests"]
    return found


def wanting(name: str, state: str | None) -> dict[str, Any]:
    """An answer of a server that wants a name first."""
    asks = {"mode": "form", "message": name, "requestedSchema": {"type": "object"}}
    more = {} if state is None else {"requestState": state}
    return {
        "resultType": "input_required",
        "inputRequests": {name: {"method": "elicitation/create", "params": asks}},
        **more,
    }


def accepted(value: object) -> dict[str, Any]:
    return {"action": "accept", "content": {"value": value}}


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


async def test_a_server_is_told_what_the_client_of_a_task_can_beside_tasks(room: McpRoom) -> None:
    able: dict[str, Any] = {"elicitation": {"form": {}}, "extensions": {"other": {"a": 1.50}}}
    both = {**able, "extensions": {**able["extensions"], "io.modelcontextprotocol/tasks": {}}}
    said = (await room.ask(call(meta={**modern(**both), "progressToken": 7})))["result"]
    await room.decided()
    await ended(room, said["taskId"])

    (ran,) = map(json.loads, room.inner.ran)
    assert ran["params"]["_meta"] == modern(**able)


async def test_what_a_server_wants_of_the_client_is_in_its_task_and_the_call_goes_on(
    room: McpRoom,
) -> None:
    room.inner.answers = [wanting("branch", "s-1"), wanting("branch", None), done()]
    task_id = await begun(room)
    await room.decided()
    (first,) = await wants(room, task_id)
    assert len(room.inner.ran) == 1
    await look(room, task_id, "update", inputResponses={first: accepted(BIG), "x": accepted(0)})
    async with asyncio.timeout(PATIENCE_SECONDS):
        while first in (second := await wants(room, task_id)):
            await asyncio.sleep(0.02)
    (again,) = second
    # What was asked before is not asked any more.
    await look(room, task_id, "update", inputResponses={first: accepted("late")})
    assert list(await wants(room, task_id)) == [again]
    await look(room, task_id, "update", inputResponses={again: accepted("main")})
    said = await ended(room, task_id)

    assert said["result"] == done()
    calls = [json.loads(line) for line in room.inner.ran]
    assert len({one["id"] for one in calls}) == 3
    params = [one["params"] for one in calls]
    assert [one["arguments"] for one in params] == [{"path": "/srv/a"}] * 3
    assert [one.get("requestState") for one in params] == [None, "s-1", None]
    assert [one.get("inputResponses") for one in params] == [
        None,
        {"branch": accepted(BIG)},
        {"branch": accepted("main")},
    ]


async def test_an_edited_call_goes_on_as_edited(room: McpRoom) -> None:
    room.inner.answers = [wanting("branch", "s-1"), done()]
    task_id = await begun(room)
    await room.decided(edited={"path": "/srv/b"})
    (name,) = await wants(room, task_id)
    await look(room, task_id, "update", inputResponses={name: accepted("main")})
    said = await ended(room, task_id)

    assert room.inner.arguments == [{"path": "/srv/b"}] * 2
    assert "/srv/b" in text(said)


async def test_what_a_server_wants_can_be_answered_to_another_process_and_runs_once(
    backend: Backend,
) -> None:
    first, second = McpRoom(backend), McpRoom(backend)
    for room in (first, second):
        room.inner.answers = [wanting("branch", "s-1"), done()]
    task_id = await begun(first)
    await first.decided()
    (name,) = await wants(first, task_id)
    assert list(await wants(second, task_id)) == [name]
    await look(second, task_id, "update", inputResponses={name: accepted("main")})
    await ended(second, task_id)

    assert (len(first.inner.ran), len(second.inner.ran)) == (2, 0)


async def test_what_a_server_wants_outlives_the_process_that_heard_of_it(
    backend: Backend,
) -> None:
    killed, later = McpRoom(backend), McpRoom(backend)
    killed.inner.answers = [wanting("branch", "s-1")]
    task_id = await begun(killed)
    await killed.decided()
    (name,) = await wants(killed, task_id)
    await killed.proxy.tasks.finish()
    await look(later, task_id, "update", inputResponses={name: accepted("main")})
    said = await ended(later, task_id)

    assert said["result"] == done()
    (ran,) = map(json.loads, later.inner.ran)
    assert ran["params"]["requestState"] == "s-1"


async def test_answers_for_a_server_go_to_it_once_though_its_process_was_killed(
    backend: Backend,
) -> None:
    killed, later = McpRoom(backend), McpRoom(backend)
    killed.inner.answers = [wanting("branch", "s-1")]
    task_id = await begun(killed)
    await killed.decided()
    (name,) = await wants(killed, task_id)
    killed.inner.may_answer.clear()
    await look(killed, task_id, "update", inputResponses={name: accepted("main")})
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(killed.inner.ran) < 2:
            await asyncio.sleep(0.02)
    await killed.proxy.tasks.finish()
    said = await ended(later, task_id)

    assert is_error(said)
    assert later.inner.ran == []


async def test_a_task_whose_server_wants_input_can_be_cancelled(room: McpRoom) -> None:
    room.inner.answers = [wanting("branch", "s-1")]
    task_id = await begun(room)
    await room.decided()
    (name,) = await wants(room, task_id)
    await look(room, task_id, "cancel")
    await look(room, task_id, "update", inputResponses={name: accepted("main")})

    assert (await ended(room, task_id))["status"] == "cancelled"
    assert len(room.inner.ran) == 1


async def test_a_server_that_wants_to_be_asked_again_is_and_its_client_needs_not_know(
    room: McpRoom,
) -> None:
    room.inner.answers = [{"resultType": "input_required", "requestState": "s-1"}, done()]
    task_id = await begun(room)
    await room.decided()
    said = await ended(room, task_id)

    assert said["result"] == done()
    assert json.loads(room.inner.ran[1])["params"]["requestState"] == "s-1"


async def test_what_a_server_wants_in_no_form_that_is_known_ends_the_task(room: McpRoom) -> None:
    room.inner.answers = [{"resultType": "input_required", "inputRequests": ["name"]}]
    task_id = await begun(room)
    await room.decided()

    assert is_error(await ended(room, task_id))
