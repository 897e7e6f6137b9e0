"""The hosted API: events out, resumed without loss or repetition."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from support.api_world import CI, REVIEWER, World, world_on
from support.playing import a_playground

from sayso.calls import RunRef
from sayso.stores.branch_log import KEPT_EVENTS
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_response
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.routing import Route, Routes
from sayso_bots.api.api import HostedApi, hosted_api
from sayso_bots.api.stream import StreamLimits
from sayso_bots.config.api_tokens import ApiSettings, ApiToken, hash_token
from sayso_bots.server.webserver import answering, bind_port, url_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_requests_responses_and_outcomes_come_in_order(world: World) -> None:
    async with await world.follow() as stream:
        request = await world.asked()
        await world.respond(request["permissionId"], reason="looks good")

        asked, answered, outcome = [await stream.next() for _ in range(3)]

    assert asked.type == asked.data["type"] == "PERMISSION_REQUEST"
    assert asked.data == request
    assert answered.type == "PERMISSION_RESPONSE"
    assert answered.data["permissionId"] == request["permissionId"]
    assert answered.data["approved"] is True
    assert answered.data["decidedBy"] == "api:reviewer"
    assert outcome.type == "PERMISSION_APPROVED"
    assert len({asked.id, answered.id, outcome.id}) == 3


async def test_a_press_in_the_chat_is_an_event(world: World) -> None:
    async with await world.follow() as stream:
        await world.asked()
        card = await world.card()
        await world.playground.slack.press(card, "Deny", by="alice")

        events = await stream.types(3)

    assert events == ["PERMISSION_REQUEST", "PERMISSION_RESPONSE", "PERMISSION_DENIED"]


async def test_a_request_that_expires_is_an_event(world: World) -> None:
    async with await world.follow() as stream:
        await world.asked(timeout=0.3)

        events = await stream.types(2)

    assert events == ["PERMISSION_REQUEST", "REQUEST_EXPIRED"]


async def test_the_stream_goes_on_after_the_last_event_id(world: World) -> None:
    async with await world.follow() as stream:
        for number in range(3):
            await world.asked(callId=f"call-{number}")
        first = await stream.next()
        await stream.next()

    await world.asked(callId="call-3")
    for resumed in (
        await world.follow(first.id),
        await world.follow(lastEventId=first.id),
    ):
        async with resumed as stream:
            await world.asked()
            calls = [(await stream.next()).data["callId"] for _ in range(3)]
        assert calls == ["call-1", "call-2", "call-3"]


async def test_the_first_thing_said_is_where_to_resume(world: World) -> None:
    async with await world.follow() as stream:
        line = b""
        while not line.startswith(b"id: "):
            line = await stream.response.content.readline()
            if line.startswith(b"retry: "):
                assert line == b"retry: 2000\n"
        position = line.decode().strip().removeprefix("id: ")
    request = await world.asked()

    async with await world.follow(position) as stream:
        assert (await stream.next()).data == request


async def test_everything_that_is_kept_comes_after_0(world: World) -> None:
    async with await world.follow("0") as empty:
        first = await world.asked()
        assert (await empty.next()).data == first
        second = await world.asked(callId="another")
        assert (await empty.next()).data == second

    async with await world.follow("0") as stream:
        assert [(await stream.next()).data for _ in range(2)] == [first, second]


async def test_without_an_id_only_new_events_come(world: World) -> None:
    async with await world.follow() as before:
        await world.asked()
        await before.next()
    async with await world.follow() as stream:
        second = await world.asked()

        assert (await stream.next()).data == second


async def test_branches_and_sessions_do_not_leak_into_each_other(
    world: World,
) -> None:
    async with await world.follow() as stream:
        await world.asked(branch=f"{world.branch}2")
        await world.asked(branch=world.branch.replace("/sessions/", "/sessions/x"))
        mine = await world.asked()

        assert (await stream.next()).data == mine


async def test_every_reader_of_a_branch_gets_every_event_once(world: World) -> None:
    streams = [await world.follow() for _ in range(20)]
    ids = [(await world.asked())["permissionId"] for _ in range(30)]

    async def read(stream: object) -> list[str]:
        return [(await stream.next()).data["permissionId"] for _ in ids]  # type: ignore[attr-defined]

    heard = await asyncio.gather(*map(read, streams))
    for stream in streams:
        stream.response.close()

    assert heard == [ids] * 20


async def test_an_event_is_there_once_although_its_job_comes_again(
    world: World,
) -> None:
    request = await world.asked()
    run = RunRef("deploy-bot", world.session_id)
    record = await world.backend.store.get(request["permissionId"])
    assert record is not None

    async with await world.follow("0") as stream:
        await stream.next()
        again = await world.backend.log.append(
            run, record.request.question_id, "request", record.request
        )
        await world.respond(request["permissionId"])

        assert again is False
        assert (await stream.next()).type == "PERMISSION_RESPONSE"


@pytest.mark.parametrize("written", ["x", "-1", "a.b", "a.1.2", "é.1", "a." + "1" * 40])
async def test_what_is_no_event_id_is_refused(world: World, written: str) -> None:
    reply = await world.session.get(
        f"{world.url}{world.branch}/events",
        params={"lastEventId": written},
        headers={"Authorization": f"Bearer {CI}"},
    )

    assert reply.status == 400
    assert (await reply.json(content_type=None))["code"] == "InvalidEventId"


async def test_a_stream_says_what_it_is_and_is_not_kept_by_caches(
    world: World,
) -> None:
    async with await world.follow() as stream:
        headers = stream.response.headers

    assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("kind", ["memory", "redis"])
async def test_a_stream_resumes_across_a_restart_of_the_bots(kind: str, store_url: str) -> None:
    async with (
        a_playground() as playground,
        open_store("memory://" if kind == "memory" else store_url) as backend,
    ):
        async with world_on(playground, backend) as first, await first.follow() as stream:
            asked = await first.asked()
            last = (await stream.next()).id
            streaming = asyncio.ensure_future(stream.next())
            await asyncio.sleep(0)
        # The bots have stopped, and the stream has ended without an error.
        with pytest.raises((EOFError, aiohttp.ClientError)):
            await streaming
        answer = a_response(a_request(asked["permissionId"]))
        await backend.store.settle(asked["permissionId"], answer)

        async with world_on(playground, backend) as second, await second.follow(last) as stream:
            assert (await stream.next()).data["permissionId"] == asked["permissionId"]
            assert (await stream.next()).type == "PERMISSION_APPROVED"


@asynccontextmanager
async def _api(
    store: str = "memory://", *, heartbeat: float = 15, patience: float = 10
) -> AsyncIterator[tuple[HostedApi, str, World]]:
    """The API alone, with patience of a test's own."""
    token = ApiToken("ci", hash_token(CI), ("*",))
    routes = Routes((Route(to=()),))
    async with open_store(store) as backend:
        settings = ApiSettings((token,), per_second=10_000)
        with bind_port("127.0.0.1", 0) as sockets:
            # The kernel would take megabytes for a client that reads nothing.
            sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
            async with (
                hosted_api(
                    settings, backend, routes, {}, limits=StreamLimits(heartbeat, patience)
                ) as api,
                answering(sockets, api.routes()),
                aiohttp.ClientSession() as session,
            ):
                url = url_of(sockets)
                world = World(url, None, session, backend, None)  # type: ignore[arg-type]
                try:
                    yield api, url, world
                finally:
                    api.streams.end()


async def _logged(world: World, number: int, size: int = 10) -> None:
    run = RunRef("deploy-bot", "s-42")
    request = a_request(f"q-{number}", run=run, arguments={"text": "x" * size})
    await world.backend.store.open(request, seconds=60, inbox="", book=None)
    await world.backend.log.append(run, request.question_id, "request", request)


@pytest.mark.parametrize("kind", ["memory", "redis"])
async def test_an_id_that_is_no_longer_kept_is_410_and_never_a_gap(
    kind: str, store_url: str
) -> None:
    async with _api("memory://" if kind == "memory" else store_url) as (_, _, world):
        end = await world.backend.log.end(RunRef("deploy-bot", "s-42"))
        for number in range(KEPT_EVENTS + 200):
            await _logged(world, number)

        gone, strange = [
            await world.call("GET", f"{world.branch}/events", headers={"Last-Event-ID": position})
            for position in (str(end), "another-life.3")
        ]
        async with await world.follow("0") as stream:
            first = (await stream.next()).id

    assert gone.problem == strange.problem == (410, "EventsGone")
    assert gone.json["lastEventId"] == str(end)
    assert int(first.partition(".")[2]) > 1


async def test_an_idle_stream_says_now_and_then_that_it_lives() -> None:
    async with _api(heartbeat=0.05) as (_, _, world), await world.follow() as stream:
        reading = asyncio.ensure_future(stream.next())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while stream.comments < 3:
                await asyncio.sleep(0.01)
        await _logged(world, 1)

        assert (await reading).type == "PERMISSION_REQUEST"


@pytest.mark.parametrize(("count", "patience"), [(45, 0.3), (150, 30)])
async def test_a_slow_reader_is_cut_off_resumes_without_loss_and_slows_nobody(
    count: int, patience: float
) -> None:
    """It takes nothing for too long, or falls too far behind."""
    async with _api(patience=patience) as (api, url, world), await world.follow() as quick:
        host, port = url.removeprefix("http://").split(":")
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        slow.connect((host, int(port)))
        slow.sendall(
            f"GET {world.branch}/events HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {CI}\r\n\r\n".encode()
        )
        while len(api.streams) < 2:
            await asyncio.sleep(0.005)
        for number in range(count):
            await _logged(world, number, 60_000)
            # The quick one has it before the next one is written.
            assert (await quick.next()).data["permissionId"] == f"q-{number}"
        async with asyncio.timeout(PATIENCE_SECONDS):
            while patience < 1 and len(api.streams) > 1:
                await asyncio.sleep(0.01)
        read = await asyncio.to_thread(_read_all, slow)

        assert b"event: stream-error" in read
        assert b'"code": "SlowReader"' in read
        assert read.endswith(b"\r\n0\r\n\r\n")
        ids = [line for line in read.split(b"\n") if line.startswith(b"id: ")]
        last = ids[-1].decode().removeprefix("id: ").strip()
        assert f'"lastEventId": "{last}"'.encode() in read
        seen = len(ids) - 1
        assert 0 < seen < count
        async with await world.follow(last) as resumed:
            rest = [(await resumed.next()).data["permissionId"] for _ in range(count - seen)]
        assert rest == [f"q-{number}" for number in range(seen, count)]


def _read_all(sock: socket.socket) -> bytes:
    parts = []
    sock.settimeout(10)
    while part := sock.recv(65_536):
        parts.append(part)
    sock.close()
    return b"".join(parts)


async def test_a_client_of_http_1_0_gets_events_too() -> None:
    async with _api() as (_, url, world):
        host, port = url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            f"GET {world.branch}/events HTTP/1.0\r\nAuthorization: Bearer {CI}\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readuntil(b"\n\n")
        await _logged(world, 1)
        event = await reader.readuntil(b"\n\n")
        writer.close()

    assert b"chunked" not in head.lower()
    assert event.startswith(b"id: ")
    assert b"\nevent: PERMISSION_REQUEST\ndata: {" in event


async def test_a_reader_may_read_what_it_may_not_answer(world: World) -> None:
    async with await world.follow(token=REVIEWER) as stream:
        await world.asked()

        assert (await stream.next()).type == "PERMISSION_REQUEST"
