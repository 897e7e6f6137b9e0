"""One cell goes and comes back. On each door what it holds ends in a clear no, the rest goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from uuid import uuid4

import pytest
from bots.server.test_cells_on_every_door import hooked, pressed  # noqa: TID251
from support.aap_world import PROVISIONER
from support.cell_doors import Doors, doors_on
from support.cells import Servers, in_cell, servers
from support.commands import Run
from support.mcp_room import McpRoom, call, is_error, request, tasks, text

import sayso
from sayso import RunRef, ToolCall
from sayso.errors import StoreUnreachableError
from sayso.testing import a_request, until
from sayso_playground import Playground

CALL = ToolCall("release")


@pytest.fixture
def both() -> Iterator[Servers]:
    with servers() as made:
        yield made


@pytest.fixture
async def doors(playground: Playground, both: Servers) -> AsyncIterator[Doors]:
    async with doors_on(playground, both.address) as opened:
        yield await opened.with_instance_in("00")


def says_what_is_away(both: Servers, said: str) -> bool:
    """Whether a text names the cell and its address, and no password."""
    away = both.servers[1]
    hidden = not any(one.password in said for one in both.servers)
    return hidden and "cell 01" in said and str(away.port) in said


async def until_it_works(attempt: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what comes back by itself."""
    await asyncio.wait_for(until(attempt), 20)


async def test_the_hosted_api_goes_on_in_the_other_cell(doors: Doors, both: Servers) -> None:
    here, there = doors.api("00"), doors.api("01")
    ticket = (await here.call("POST", f"{here.branch}/events/tickets")).json["ticket"]
    async with await here.follow() as events, await here.follow(token="", ticket=ticket):
        both.kill(1)
        headers = {"Idempotency-Key": "build-7"}
        named = {"permissionId": f"build-{uuid4().hex}", "functionName": "deploy"}
        assert (await here.ask(**named)).status == 201
        assert (await here.ask(**named)).status == 200
        path = f"{here.branch}/requests"
        body = {"type": "PERMISSION_REQUEST", "functionName": "build", "arguments": {}}
        for status in (201, 200):
            again = await here.call("POST", path, body, headers=headers)
            assert again.status == status
        assert await events.types(2) == ["PERMISSION_REQUEST"] * 2
        unknown = await here.call("GET", f"{path}/no-such-request")
        assert unknown.problem == (404, "UnknownRequest")
        async with await here.follow(token="", ticket=ticket):
            await pressed(here, "Allow", "deploy")

        refused = [
            await there.ask(),
            await there.ask(permissionId=f"build-{uuid4().hex}"),
            await there.call("GET", f"{there.branch}/requests/no-such-request"),
            await there.call("POST", f"{there.branch}/events/tickets"),
        ]
        for reply in refused:
            assert reply.problem == (503, "StoreUnreachable")
            assert reply.json["detail"].startswith("cell 01 of the store does not answer")
        followed = await there.call("GET", f"{there.branch}/events")
        assert followed.problem == (503, "StoreUnreachable")
        await both.start(1)

        async def works() -> bool:
            return (await there.ask(functionName="deploy_there")).status == 201

        await until_it_works(works)
        await pressed(there, "Deny", "deploy_there")


async def test_the_approval_protocol_goes_on_in_the_other_cell(doors: Doors, both: Servers) -> None:
    here, there = doors.context("00"), doors.context("01")
    open_there = await doors.aap.asked(context=there)
    both.kill(1)

    key = str(uuid4())
    asked = [await doors.aap.ask(key=key, context=here, tool="deploy_here") for _ in range(2)]
    assert [one.status for one in asked] == [201, 200]
    waiting = asyncio.ensure_future(doors.aap.get(asked[0].json["id"], wait="20s"))
    await doors.playground.slack.press(await doors.aap.card("deploy_here"), "Allow", by="alice")
    assert (await waiting).json["status"] == "approved"
    assert (await doors.aap.consume(asked[0].json["id"])).status == 200
    refused = await doors.aap.ask(context=there)
    assert refused.error == (503, "store_unreachable")
    assert refused.json["error"]["message"].startswith("cell 01 of the store does not answer")
    assert (await doors.aap.get(open_there["id"])).error == (503, "store_unreachable")

    path = f"/v1/instances/{doors.aap.instance_id}"
    assert (await doors.aap.call("DELETE", path, token=PROVISIONER)).status == 503
    assert (await doors.aap.ask(context=here)).status == 401
    await both.start(1)

    async def is_deleted() -> bool:
        return (await doors.aap.call("DELETE", path, token=PROVISIONER)).status == 204

    await until_it_works(is_deleted)
    record = await doors.backend.store.get(open_there["id"])
    assert record is not None
    assert record.ending is not None


async def test_handles_hooks_and_mcp_go_on_in_the_other_cell(doors: Doors, both: Servers) -> None:
    rooms = {
        cell: McpRoom(doors.backend, run=RunRef("deploy-bot", doors.session(cell)), patience=0.3)
        for cell in ("00", "01")
    }
    both.kill(1)

    asking = asyncio.ensure_future(hooked(doors, "00", both.address))
    await pressed(doors.api("00"), "Allow", "run_command")
    assert (await asking)[0] == "allow"
    async with sayso.connect(both.address, agent="deploy-bot", patience=0.3) as handle:
        check = asyncio.ensure_future(handle.check(CALL, run=doors.session("00"), key="again"))
        await pressed(doors.api("00"), "Deny", "release")
        assert not (await check).approved
        with pytest.raises(StoreUnreachableError) as caught:
            await handle.check(CALL, run=doors.session("01"))
    assert says_what_is_away(both, str(caught.value))
    assert (await hooked(doors, "01", both.address))[0] == "deny"

    for number in range(4):
        held = asyncio.ensure_future(rooms["00"].ask(call(f"write_{number}", number)))
        await pressed(doors.api("00"), "Allow", f"write_{number}")
        assert text(await held) == "it ran"
    task = (await rooms["00"].ask(call("in_a_task", meta=tasks())))["result"]["taskId"]
    look = request("tasks/get", {"taskId": task, "_meta": tasks()})
    assert (await rooms["00"].ask(look))["result"]["status"] == "working"
    lost = await rooms["01"].ask(call())
    assert is_error(lost)
    assert says_what_is_away(both, text(lost))
    assert rooms["01"].inner.ran == []


async def test_commands_find_what_begins_so_in_the_cells_that_answer(
    run: Run, doors: Doors, both: Servers
) -> None:
    here, there = (a_request(run=in_cell(doors.backend, cell)) for cell in ("00", "01"))
    for one in (here, there):
        await doors.backend.store.open(one, seconds=60, inbox="", book=None)
    both.kill(1)

    async def command(*words: str) -> tuple[int, str]:
        done = await asyncio.to_thread(run, *words, env={"SAYSO_STORE_URL": both.address})
        return done.code, f"{done.out}{done.err}"

    assert (await command("show", here.question_id[:8]))[0] == 0
    for words in (("show", there.question_id), ("cancel", there.question_id[:8])):
        code, said = await command(*words)
        assert (code, says_what_is_away(both, said)) == (4, True), said
    assert (await command("cancel", here.question_id[:8]))[0] == 0
