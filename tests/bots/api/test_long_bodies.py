"""A long body keeps no other call of the hosted API waiting."""

from __future__ import annotations

import threading

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from support.api_world import REVIEWER, World
from support.noting import NotingRequestEvent

from sayso_bots.api.bodies import beside

LONG = 16 * 1024


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("length", "here"), [(10, True), (LONG, False)])
async def test_a_large_request_is_answered_beside_the_loop(
    world: World, length: int, here: bool
) -> None:
    body = {"type": "NOTING_REQUEST", "notingId": f"b-{length}", "text": "p" * length}
    asked = await world.call("POST", f"{world.branch}/requests", body)
    assert asked.status == 201, asked.text
    answer = {"type": "CLARIFICATION_RESPONSE", "choiceKey": "seen", "requestId": f"b-{length}"}
    made = NotingRequestEvent.made_in[f"b-{length}"] = []

    first, again = [
        await world.call("POST", f"{world.branch}/responses", answer, token=REVIEWER)
        for _ in range(2)
    ]

    assert (first.status, again.status, again.json) == (200, 200, first.json)
    assert made
    if not here:
        assert threading.get_ident() not in made


async def _works_here(request: web.Request) -> web.Response:
    worked = await beside(request, threading.get_ident)
    return web.json_response(worked == threading.get_ident())


@pytest.mark.parametrize(("length", "here"), [(LONG, True), (LONG + 1, False)])
async def test_the_work_on_a_long_body_is_done_beside_the_loop(length: int, here: bool) -> None:
    app = web.Application()
    app.router.add_post("/", _works_here)

    async with TestClient(TestServer(app)) as client:
        reply = await client.post("/", data=b"x" * length)

        assert await reply.json() is here


@pytest.mark.asyncio(loop_scope="module")
async def test_a_long_call_is_asked_repeated_and_refused_like_a_short_one(world: World) -> None:
    long = {"ids": [1.0] * LONG}
    first = await world.ask(permissionId="p-long", arguments=long)
    again = await world.ask(permissionId="p-long", arguments=long)
    other = await world.ask(permissionId="p-long", arguments={"ids": [2.0] * LONG})
    wrong = await world.ask(arguments=long, argumentsDigest="0" * 64)

    assert (first.status, again.status) == (201, 200)
    assert again.json["request"] == first.json["request"]
    assert other.problem == (409, "DuplicateRequest")
    assert wrong.pointers == ["/argumentsDigest"]
