"""``GET …/requests/{id}?wait=``: answered when the request ends, or when the time is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from support.api_world import CI, TOML, Reply, World, world_on
from support.commands import env_of, process
from support.counted import Counted
from support.playing import a_playground

from sayso.calls import new_id
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.worker.routing import Route, Routes
from sayso_bots.api.api import HostedApi, hosted_api
from sayso_bots.api.stream import StreamLimits
from sayso_bots.config.api_tokens import ApiSettings, ApiToken, hash_token
from sayso_bots.server.webserver import answering, bind_port, url_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHER = f"sayso_{'second':x<43}"


def waiting(
    world: World, request_id: str, wait: str = "25s", token: str = CI
) -> asyncio.Task[Reply]:
    """A look that waits."""
    path = f"{world.branch}/requests/{request_id}?wait={wait}"
    return asyncio.create_task(world.call("GET", path, token=token))


async def test_a_look_waits_for_the_end_and_no_longer_than_it_says(world: World) -> None:
    asked = await world.asked(arguments={"command": "ls waits"})
    begun = time.monotonic()

    over = await waiting(world, asked["permissionId"], "300ms")
    took = time.monotonic() - begun
    looks = [waiting(world, asked["permissionId"]) for _ in range(5)]
    await world.playground.slack.press(await world.card("ls waits"), "Allow", by="alice")
    replies = await asyncio.gather(*looks)

    assert (over.status, over.json["response"]) == (200, None)
    assert 0.25 < took < 10
    assert {reply.status for reply in replies} == {200}
    assert {reply.json["response"]["decidedBy"] for reply in replies} == {"slack:U0ALICE"}


async def test_a_look_that_waits_hears_of_every_end(world: World) -> None:
    short, long = await world.asked(timeout=0.5), await world.asked()
    looks = [waiting(world, one["permissionId"]) for one in (short, long)]
    await world.call("DELETE", f"{world.branch}/requests/{long['permissionId']}")

    ends = [(await look).json["response"]["type"] for look in looks]

    assert ends == ["REQUEST_EXPIRED", "REQUEST_CANCELLED"]


async def test_what_has_ended_is_answered_at_once(world: World) -> None:
    asked = await world.asked()
    await world.respond(asked["permissionId"])

    async with asyncio.timeout(5):
        reply = await waiting(world, asked["permissionId"], "30d")

    assert reply.json["response"]["approved"] is True


@pytest.mark.parametrize("wait", ["", "25", "x", "0s", "-1s", "1s&wait=2s"])
async def test_a_wait_that_is_no_duration_is_refused(world: World, wait: str) -> None:
    asked = await world.asked()

    reply = await world.call("GET", f"{world.branch}/requests/{asked['permissionId']}?wait={wait}")

    assert reply.problem == (400, "InvalidWait")


@asynccontextmanager
async def an_api(backend: Backend, most: int = 100) -> AsyncIterator[tuple[HostedApi, World]]:
    """The API alone, with room for so many that stay."""
    tokens = tuple(
        ApiToken(name, hash_token(token), ("*",)) for name, token in (("ci", CI), ("2", OTHER))
    )
    limits = StreamLimits(most=most)
    routes = Routes((Route(to=()),))
    with bind_port("127.0.0.1", 0) as sockets:
        async with (
            hosted_api(
                ApiSettings(tokens, per_second=10_000), backend, routes, {}, limits=limits
            ) as api,
            answering(sockets, api.routes()),
            aiohttp.ClientSession() as session,
        ):
            world = World(url_of(sockets), None, session, backend, None)  # type: ignore[arg-type]
            try:
                yield api, world
            finally:
                api.end()


async def test_no_more_wait_than_there_is_room_for_and_no_token_has_more_than_half() -> None:
    async with open_store("memory://") as backend, an_api(backend, most=4) as (_, world):
        asked = await world.asked()
        request_id = asked["permissionId"]
        mine = {waiting(world, request_id) for _ in range(3)}
        done, mine = await asyncio.wait(mine, return_when=asyncio.FIRST_COMPLETED)
        async with await world.follow(token=OTHER):
            theirs = {waiting(world, request_id, token=OTHER) for _ in range(2)}
            refused, theirs = await asyncio.wait(theirs, return_when=asyncio.FIRST_COMPLETED)
            await world.call("DELETE", f"{world.branch}/requests/{request_id}")
            replies = await asyncio.gather(*mine, *theirs)

    for reply in (done.pop().result(), refused.pop().result()):
        assert reply.problem[1] == "TooManyStreams"
        assert reply.headers["Retry-After"] == "5"
    assert len(replies) == 3
    assert {reply.json["response"]["type"] for reply in replies} == {"REQUEST_CANCELLED"}


async def test_a_caller_who_hangs_up_makes_room_at_once() -> None:
    async with open_store("memory://") as backend, an_api(backend, most=2) as (_, world):
        request_id = (await world.asked())["permissionId"]
        path = f"{world.branch}/requests/{request_id}?wait=30s"
        address = urlsplit(world.url)
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {CI}\r\n\r\n"
        writer.write(head.encode())
        async with asyncio.timeout(10):
            while (await waiting(world, request_id, "1ms")).status == 200:
                pass  # until it has come in, and takes this token's only place
            writer.close()
            while (await waiting(world, request_id, "1ms")).status == 429:
                pass


async def test_waiting_costs_the_store_no_more_the_longer_it_lasts() -> None:
    async with open_store("memory://") as backend:
        store = Counted(backend.store, "get")
        async with an_api(replace(backend, store=store)) as (_, world):
            request_id = (await world.asked())["permissionId"]
            looks = []
            for wait in ("1ms", "1200ms"):
                store.looks = 0
                await waiting(world, request_id, wait)
                looks.append(store.looks)

    assert looks == [2, 2]


@pytest.mark.parametrize("kind", ["memory", "redis"])
async def test_at_the_end_of_the_server_waits_are_answered_as_things_stand(
    kind: str, redis_url: str
) -> None:
    separator = "&" if "?" in redis_url else "?"
    url = f"{redis_url}{separator}namespace=waits-{new_id()}"
    async with (
        a_playground() as playground,
        open_store("memory://" if kind == "memory" else url) as backend,
        aiohttp.ClientSession() as session,
    ):
        async with world_on(playground, backend) as bots:
            world = replace(bots, session=session)
            request_id = (await world.asked(arguments={"command": "ls kept"}))["permissionId"]
            await world.card("ls kept")
            looks = [waiting(world, request_id) for _ in range(5)]
            for _ in range(50):
                await waiting(world, request_id, "1ms")  # they have begun by then
            begun = time.monotonic()
        replies = await asyncio.gather(*looks)
        took = time.monotonic() - begun
        async with world_on(playground, backend) as again:
            look = waiting(again, request_id)
            await playground.slack.press(await again.card("ls kept"), "Allow", by="alice")
            found = await look

    assert took < 5
    assert [(reply.status, reply.json["response"]) for reply in replies] == [(200, None)] * 5
    assert found.json["response"]["approved"] is True


async def test_an_answer_that_other_bots_hear_ends_the_wait(store_url: str, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(TOML)
    async with (
        a_playground() as playground,
        open_store(store_url) as backend,
        world_on(playground, backend) as world,
    ):
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        async with process("serve", "--config", str(config), env=env) as bots:
            url = (await bots.line_with("serves on")).split()[3]
            other = World(url, playground, world.session, backend, world.bots)
            asked = await world.asked(arguments={"command": "ls elsewhere"})
            look = waiting(other, asked["permissionId"])
            await playground.slack.press(await world.card("ls elsewhere"), "Deny", by="alice")
            reply = await look

    assert reply.json["response"]["approved"] is False
