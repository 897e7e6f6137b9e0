"""Long polls: answered when the request ends, their time is over, or the server stops."""

from __future__ import annotations

import asyncio
import time
from uuid import uuid4

import pytest
from support.aap_room import aap_room, settings
from support.aap_world import AapWorld, Answer, aap_world_on
from support.playing import a_playground

from sayso.calls import new_id
from sayso.stores.connect import open_store
from sayso_bots.settings.aap import AapLimits

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_poll_that_ends_is_pending_and_one_that_is_answered_has_the_answer(
    aap: AapWorld,
) -> None:
    request = await aap.asked(arguments={"command": uuid4().hex})
    begun = time.monotonic()

    over = await aap.get(request["id"], wait="1s")
    took = time.monotonic() - begun
    waiting = [asyncio.ensure_future(aap.get(request["id"], wait="25s")) for _ in range(10)]
    card = await aap.card(request["arguments"]["command"])
    await aap.playground.slack.press(card, "Allow", by="alice")

    assert (over.status, over.json["status"]) == (200, "pending")
    assert 0.9 <= took < 10
    assert {one.json["status"] for one in await asyncio.gather(*waiting)} == {"approved"}


@pytest.mark.parametrize("wait", ["", "25", "1.5s", "x", "0s", "1s&wait=2s"])
async def test_a_wait_that_is_no_duration_is_refused(aap: AapWorld, wait: str) -> None:
    request = await aap.asked()

    answer = await aap.call("GET", f"/v1/requests/{request['id']}?wait={wait}")

    assert answer.error[0] == 400


async def test_a_long_wait_of_what_has_ended_is_answered_at_once(aap: AapWorld) -> None:
    request = await aap.approved()

    async with asyncio.timeout(5):
        answer = await aap.get(request["id"], wait="999999h")

    assert answer.json["status"] == "approved"


async def test_no_more_polls_wait_than_an_instance_may_have() -> None:
    limits = AapLimits(per_second=1_000, requests_per_second=1_000, waiting=2)
    async with aap_room(settings(limits)) as room:
        request = await room.asked()
        waiting = {asyncio.ensure_future(room.get(request["id"], wait="25s")) for _ in range(3)}

        done, left = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        await room.settled(request["id"])
        answers = await asyncio.gather(*left)

    refused = done.pop().result()
    assert refused.error == (429, "too_many_calls")
    assert refused.headers["Retry-After"] == "1"
    assert {one.json["status"] for one in answers} == {"approved"}


@pytest.mark.parametrize("kind", ["memory", "redis"])
async def test_at_the_end_of_the_server_polls_are_pending_at_once_and_all_is_kept(
    kind: str, redis_url: str
) -> None:
    separator = "&" if "?" in redis_url else "?"
    url = f"{redis_url}{separator}namespace=aap-{new_id()}"
    async with (
        a_playground() as playground,
        open_store("memory://" if kind == "memory" else url) as backend,
    ):
        polls: list[asyncio.Future[Answer]] = []
        async with aap_world_on(playground, backend) as world:
            request = await world.asked(arguments={"command": "kept"})
            await world.card("kept")
            polls = [asyncio.ensure_future(world.get(request["id"], wait="25s")) for _ in range(5)]
            for _ in range(50):
                await world.get(request["id"])  # they have begun by then
            begun = time.monotonic()
        answers = await asyncio.gather(*polls)
        took = time.monotonic() - begun

        async with aap_world_on(playground, backend) as again:
            again.token, again.agent = world.token, world.agent
            card = await again.card("kept")
            await playground.slack.press(card, "Allow", by="alice")
            ended = await again.get(request["id"], wait="25s")

    assert took < 5
    assert {one.json["status"] for one in answers} == {"pending"}
    assert ended.json["status"] == "approved"
    assert ended.json["deadline_at"] == request["deadline_at"]
