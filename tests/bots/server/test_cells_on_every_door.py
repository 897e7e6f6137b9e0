"""Whatever cell a session lives in, each door keeps what it promises."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest
from support.aap_world import PROVISIONER
from support.api_world import World, a_body
from support.cell_doors import CELLS, Doors, doors_on
from support.cells import in_cell, remember_in
from support.commands import Run
from support.mcp_room import McpRoom, call, request, tasks, text
from support.topologies import PASSWORD, cluster_node, joined

import sayso
from sayso import Gate, RunRef, ToolCall
from sayso.desk.routes import Routes
from sayso.errors import IdempotencyConflictError
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.addresses import written
from sayso.stores.ports import Record
from sayso.testing import a_request, a_rule
from sayso_bots.cli.named import with_login
from sayso_bots.hook.agents import CLAUDE_CODE
from sayso_bots.hook.asking import Asker, answered
from sayso_bots.hook.events import read_event
from sayso_bots.settings.asked import AskSettings
from sayso_bots.settings.store import StoreSettings
from sayso_playground import Playground

ALICE = "slack:U0ALICE"


@pytest.fixture
def address(store_url: str) -> str:
    """Two cells, in two namespaces of one server."""
    return f"{store_url}-0&cell=00 {store_url}-1&cell=01"


@pytest.fixture
async def doors(playground: Playground, address: str) -> AsyncIterator[Doors]:
    async with doors_on(playground, address) as opened:
        yield opened


async def pressed(world: World, label: str, text: str) -> None:
    await world.playground.slack.press(await world.card(text), label, by="alice")


async def test_the_hosted_api_asks_tells_and_answers_in_any_cell(doors: Doors) -> None:
    for cell in CELLS:
        world = doors.api(cell)
        async with await world.follow() as events:
            asked = await world.asked(arguments={"command": f"deploy {cell}"})
            one = f"{world.branch}/requests/{asked['permissionId']}"
            waiting = asyncio.ensure_future(world.call("GET", f"{one}?wait=20s"))
            await pressed(world, "Allow", f"deploy {cell}")

            assert (await waiting).json["response"]["approved"] is True
            told = await events.types(3)
            assert told == ["PERMISSION_REQUEST", "PERMISSION_RESPONSE", "PERMISSION_APPROVED"]
            async with await world.follow("0") as again:
                assert await again.types(3) == told

        withdrawn = (await world.asked())["permissionId"]
        gone = await world.call("DELETE", f"{world.branch}/requests/{withdrawn}")
        assert gone.json["response"]["type"] == "REQUEST_CANCELLED"
        answered_here = await world.asked()
        assert (await world.respond(answered_here["permissionId"], approved=False)).status == 200


async def test_what_is_named_in_the_hosted_api_is_one_request_in_its_cell(doors: Doors) -> None:
    own = f"build-{uuid4().hex}"
    for cell in CELLS:
        world, headers = doors.api(cell), {"Idempotency-Key": "build-7"}
        path = f"{world.branch}/requests"
        made = [await world.call("POST", path, a_body(), headers=headers) for _ in range(2)]
        assert [one.status for one in made] == [201, 200]
        [asked] = {one.json["request"]["permissionId"] for one in made}
        assert asked in {one.request.question_id for one in await in_this(doors, cell)}

    first, other = (doors.api(cell) for cell in CELLS)
    assert [(await first.ask(permissionId=own)).status for _ in range(2)] == [201, 200]
    assert (await other.ask(permissionId=own)).problem == (409, "DuplicateRequest")
    shown = await other.call("GET", f"{other.branch}/requests/{own}")
    assert shown.problem == (404, "UnknownRequest")


async def in_this(doors: Doors, cell: str) -> list[Record]:
    return list(await doors.backend.cells[cell].watch.pending())


async def test_a_ticket_of_the_hosted_api_lies_where_its_branch_does(doors: Doors) -> None:
    for cell in CELLS:
        world = doors.api(cell)
        made = await world.call("POST", f"{world.branch}/events/tickets")
        async with await world.follow(token="", ticket=made.json["ticket"]) as events:
            await world.asked()
            assert await events.types(1) == ["PERMISSION_REQUEST"]
        key = "api-ticket:" + sha256(made.json["ticket"].encode()).hexdigest()
        kept = {one: await at.drafts.read(key) for one, at in doors.backend.cells.items()}
        assert [one for one, text_ in kept.items() if text_ is not None] == [cell]
        elsewhere = doors.api("00" if cell == "01" else "01")
        path = f"{elsewhere.branch}/events?ticket={made.json['ticket']}"
        assert (await elsewhere.call("GET", path, token=None)).status in (401, 403)


async def test_the_approval_protocol_asks_uses_and_tells_in_any_cell(doors: Doors) -> None:
    for cell in CELLS:
        mark, key = f"deploy {cell}", str(uuid4())
        more = {"arguments": {"command": mark}, "context": doors.context(cell)}
        made = [await doors.aap.ask(key=key, **more) for _ in range(2)]
        assert [one.status for one in made] == [201, 200]
        asked = made[0].json["id"]
        assert asked in {one.request.question_id for one in await in_this(doors, cell)}
        elsewhere = {**more, "context": doors.context("00" if cell == "01" else "01")}
        assert (await doors.aap.ask(key=key, **elsewhere)).status == 409

        waiting = asyncio.ensure_future(doors.aap.get(asked, wait="20s"))
        await doors.playground.slack.press(await doors.aap.card(mark), "Allow", by="alice")
        assert (await waiting).json["status"] == "approved"
        used = str(uuid4())
        assert (await doors.aap.consume(asked, used)).status == 200
        assert (await doors.aap.consume(asked, used)).status == 200
        assert (await doors.aap.consume(asked)).error == (409, "already_consumed")
        assert (await doors.aap.report(asked, status="succeeded")).status == 200


async def test_an_instance_that_is_deleted_has_nothing_open_in_any_cell(doors: Doors) -> None:
    for cell in CELLS:
        await doors.aap.asked(context=doors.context(cell))

    path = f"/v1/instances/{doors.aap.instance_id}"
    assert (await doors.aap.call("DELETE", path, token=PROVISIONER)).status == 204

    assert await doors.backend.watch.pending() == []


async def test_a_rule_for_all_sessions_counts_on_every_door_until_it_is_taken_back(
    doors: Doors, address: str
) -> None:
    for stored, elsewhere in (CELLS, CELLS[::-1]):
        rule = a_rule(scope="agent")
        await remember_in(doors.theirs, in_cell(doors.backend, stored, after=100), rule)
        world, session = doors.api(elsewhere), doors.session(elsewhere)

        assert (await world.ask(arguments={})).json["response"]["approved"] is True
        async with sayso.connect(address, agent="deploy-bot") as handle:
            assert (await handle.check(ToolCall("run_command"), run=session)).approved
        assert await hooked(doors, elsewhere, address) == ("allow", None)

        assert await doors.backend.rules.revoke(rule.rule_id, by=ALICE)
        asked = await world.asked(arguments={})
        assert (await world.respond(asked["permissionId"], approved=False)).status == 200


async def hooked(doors: Doors, cell: str, address: str) -> tuple[str, str | None]:
    """What a hook says to a call in a session of this cell, and whom it asked."""
    event = {
        "hook_event_name": "PreToolUse",
        "session_id": doors.session(cell),
        "tool_name": "run_command",
        "tool_input": {},
        "tool_use_id": f"toolu_{uuid4().hex}",
    }
    settings = AskSettings(StoreSettings(address), ServerPolicy(), Routes(()))
    asker = Asker("deploy-bot", 20, 1)
    said = await answered(
        read_event(json.dumps(event), CLAUDE_CODE), settings, asker, doors.backend, lambda _: None
    )
    answer = said.answer["hookSpecificOutput"]
    return answer["permissionDecision"], ALICE if said.was_asked else None


async def test_a_hook_asks_in_any_cell(doors: Doors, address: str) -> None:
    for cell in CELLS:
        asking = asyncio.ensure_future(hooked(doors, cell, address))
        await pressed(doors.api(cell), "Allow", "run_command")
        assert await asking == ("allow", ALICE)


async def test_a_handle_asks_once_under_a_key_and_another_process_goes_on(
    doors: Doors, address: str
) -> None:
    call_ = ToolCall("run_command", {"command": "make release"})
    for cell in CELLS:
        session = doors.session(cell)
        async with sayso.connect(address, agent="deploy-bot") as one:
            asked = await one.submit(call_, run=session, key="release")
            assert await one.submit(call_, run=session, key="release") == asked
            other = ToolCall("run_command", {"command": "rm -rf release"})
            with pytest.raises(IdempotencyConflictError):
                await one.submit(other, run=session, key="release")
        await pressed(doors.api(cell), "Allow", "make release")
        async with sayso.connect(address, agent="deploy-bot") as later:
            assert (await later.resume(key="release", run=session)).approved
            assert isinstance(asked, str)
            assert (await later.resume(asked, run=session)).approved


async def test_what_is_emitted_is_answered_in_any_cell(doors: Doors) -> None:
    for cell in CELLS:
        request = a_request(run=in_cell(doors.backend, cell))
        async with Gate.open(doors.backend, run=request.run) as gate:
            await gate.emit(request)
            answer = asyncio.ensure_future(
                gate.wait_for_response(PermissionResponseEvent, request.permission_id, 20)
            )
            await pressed(doors.api(cell), "Deny", "run_command")
            assert not (await answer).approved


async def test_calls_of_mcp_and_their_tasks_are_asked_about_in_any_cell(doors: Doors) -> None:
    for cell in CELLS:
        run = RunRef("deploy-bot", doors.session(cell))
        room = McpRoom(doors.backend, run=run)
        held = asyncio.ensure_future(room.ask(call()))
        await pressed(doors.api(cell), "Allow", "write")
        assert text(await held) == "it ran"

        begun = await room.ask(call(arguments={"path": "/srv/b"}, meta=tasks()))
        assert begun["result"]["resultType"] == "task"
        await pressed(doors.api(cell), "Allow", "/srv/b")
        look = request("tasks/get", {"taskId": begun["result"]["taskId"], "_meta": tasks()})
        while (said := await room.ask(look))["result"]["status"] == "working":
            await asyncio.sleep(0.02)
        assert said["result"]["status"] == "completed"


async def test_hooks_and_proxies_are_installed_without_the_passwords_of_cells(
    run: Run, tmp_path: Path, address: str
) -> None:
    env = {"SAYSO_STORE_URL": address, "HOME": str(tmp_path)}
    servers = tmp_path / ".cursor" / "mcp.json"
    servers.parent.mkdir()
    servers.write_text('{"mcpServers": {"files": {"command": "files"}}}')
    passwords = {one.partition("//:")[2].partition("@")[0] for one in address.split()}
    for words in (
        ("hook", "install", "claude-code", "--scope", "user"),
        ("mcp", "install", "cursor", "--scope", "user"),
    ):
        done = await asyncio.to_thread(run, *words, env=env)
        assert done.code == 0, done.err

    settings = tmp_path / ".claude" / "settings.json"
    before = json.loads(settings.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    proxied = json.loads(servers.read_text())["mcpServers"]["files"]["args"]
    for named in (shlex.split(before), proxied):
        assert with_login(named[named.index("--store") + 1], env) == address
    assert not any(one in file.read_text() for one in passwords for file in (settings, servers))


@pytest.fixture
async def cluster() -> AsyncIterator[str]:
    """Two cells on a real cluster of three nodes."""
    nodes = [cluster_node() for _ in range(3)]
    try:
        for server, _ in nodes:
            server.start()
        await joined(nodes)
        hosts = ",".join(f"127.0.0.1:{server.port}" for server, _ in nodes)
        yield " ".join(written(f"redis+cluster://:{PASSWORD}@{hosts}", one) for one in CELLS)
    finally:
        for server, _ in nodes:
            server.close()


async def test_all_doors_serve_the_cells_of_a_cluster(playground: Playground, cluster: str) -> None:
    async with doors_on(playground, cluster) as doors:
        for cell in CELLS:
            world, context = doors.api(cell), doors.context(cell)
            asked = await world.asked(arguments={"command": f"over HTTP {cell}"})
            await pressed(world, "Allow", f"over HTTP {cell}")
            path = f"{world.branch}/requests/{asked['permissionId']}?wait=20s"
            assert (await world.call("GET", path)).json["response"]["approved"] is True

            submitted = await doors.aap.asked(tool=f"by_protocol_{cell}", context=context)
            waiting = asyncio.ensure_future(doors.aap.get(submitted["id"], wait="20s"))
            card = await doors.aap.card(f"by_protocol_{cell}")
            await playground.slack.press(card, "Deny", by="alice")
            assert (await waiting).json["status"] == "denied"

            async with sayso.connect(cluster, agent="deploy-bot") as handle:
                call_ = ToolCall(f"by_handle_{cell}")
                check = asyncio.ensure_future(handle.check(call_, run=doors.session(cell)))
                await pressed(world, "Allow", f"by_handle_{cell}")
                assert (await check).approved
