"""Clients that listen to their tasks hear how they stand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from support.away import going_away
from support.mcp_room import McpRoom, call, done, modern, request, tasks

from sayso.stores.backend import Backend
from sayso.testing import until
from sayso_bots.mcp.asking import Client

_ABOUT = {"io.modelcontextprotocol/subscriptionId": "l-1"}


@pytest_asyncio.fixture
async def room(backend: Backend) -> AsyncIterator[McpRoom]:
    room = McpRoom(backend)
    yield room
    await room.proxy.tasks.finish()


async def begun(room: McpRoom) -> str:
    """A call that has become a task; its id."""
    task_id: str = (await room.ask(call(meta=tasks())))["result"]["taskId"]
    return task_id


def listening(*ids: str, **how: Any) -> dict[str, Any]:
    """A request to listen to tasks."""
    meta, wanted = how.pop("meta", tasks()), {"taskIds": list(ids), **how}
    return request("subscriptions/listen", {"notifications": wanted, "_meta": meta}, "l-1")


async def heard(room: McpRoom, number: int) -> None:
    async def so_many() -> bool:
        return len(room.told) >= number

    await until(so_many)


async def test_who_listens_to_a_task_hears_each_change_and_its_result(room: McpRoom) -> None:
    task_id = await begun(room)
    answer = asyncio.create_task(room.ask(listening(task_id)))
    await heard(room, 2)
    await room.decided()
    end = await answer

    methods = [one["method"] for one in room.told]
    assert methods == ["notifications/subscriptions/acknowledged", *["notifications/tasks"] * 2]
    assert all(one["params"]["_meta"] == _ABOUT for one in room.told)
    assert room.told[0]["params"]["notifications"] == {"taskIds": [task_id]}
    first, last = [one["params"] for one in room.told[1:]]
    assert (first["taskId"], first["status"]) == (task_id, "working")
    assert (last["status"], last["result"]) == ("completed", done())
    assert end["result"] == {"resultType": "complete", "_meta": _ABOUT}


async def test_who_listens_hears_what_the_server_wants_of_it(room: McpRoom) -> None:
    asks = {"name": {"method": "elicitation/create", "params": {"message": "Name?"}}}
    room.inner.answers = [{"resultType": "input_required", "inputRequests": asks}]
    task_id = await begun(room)
    answer = asyncio.create_task(room.ask(listening(task_id)))
    await heard(room, 2)
    await room.decided()
    await heard(room, 3)
    said = room.told[-1]["params"]
    await room.ask(request("tasks/cancel", {"taskId": task_id, "_meta": tasks()}))
    await answer

    assert said["status"] == "input_required"
    assert list(said["inputRequests"].values()) == list(asks.values())
    assert room.told[-1]["params"]["status"] == "cancelled"


async def test_who_stops_listening_hears_no_more_and_the_task_goes_on(room: McpRoom) -> None:
    task_id = await begun(room)
    answer = asyncio.create_task(room.ask(listening(task_id)))
    await heard(room, 2)
    await room.notify("notifications/cancelled", {"requestId": "l-1"})

    assert await answer is None
    assert await room.open() == 1
    assert room.inner.others == []


async def test_who_does_not_take_tasks_cannot_listen_to_any(room: McpRoom) -> None:
    said = await room.ask(listening(await begun(room), meta=modern()))

    assert said["error"]["code"] == -32021
    assert room.told == []


async def test_tasks_of_others_are_not_heard(room: McpRoom) -> None:
    theirs = listening(await begun(room), "sayso-none")
    end = await room.ask(theirs, Client(principal="other"))

    assert [one["params"]["notifications"] for one in room.told] == [{"taskIds": []}]
    assert "result" in end


async def test_what_else_a_client_listens_to_is_between_it_and_the_server(room: McpRoom) -> None:
    task_id = await begun(room)
    await room.ask(listening("theirs", toolsListChanged=True))
    await room.ask(listening(task_id, "theirs", toolsListChanged=True))
    await room.ask(listening(task_id, toolsListChanged=True))

    passed = [json.loads(one)["params"]["notifications"] for one in room.inner.others]
    both = {"taskIds": ["theirs"], "toolsListChanged": True}
    assert passed == [both, both, {"toolsListChanged": True}]
    assert room.told == []


async def test_while_the_store_is_away_that_is_what_a_client_reads_of_its_tasks(
    backend: Backend,
) -> None:
    failing, going = going_away(backend, "documents")
    room = McpRoom(failing, patience=0.1)
    task_id = await begun(room)
    going.away = True
    said = [
        await room.ask(request(f"tasks/{method}", {"taskId": task_id, "_meta": tasks()}))
        for method in ("get", "update", "cancel")
    ]
    said.append(await room.ask(listening(task_id)))

    assert [one["error"]["code"] for one in said] == [-32603] * 4
    assert all("cannot say now" in one["error"]["message"] for one in said)
