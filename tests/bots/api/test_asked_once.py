"""A request that is sent with an Idempotency-Key is asked once, however often it is sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from support.api_world import REVIEWER, Reply, World, a_body
from support.denials import always_deny

from sayso import RunRef, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def ask(world: World, key: str, **more: Any) -> Reply:
    """The same request under a key."""
    headers = {"Idempotency-Key": key}
    return await world.call("POST", f"{world.branch}/requests", a_body(**more), headers=headers)


async def open_here(world: World) -> list[str]:
    run = RunRef("deploy-bot", world.session_id)
    return [one.request.question_id for one in await world.backend.store.list_requests(run)]


async def deny_from_now_on(world: World) -> None:
    call = ToolCall("run_command", a_body()["arguments"])
    await always_deny(world.backend, call, RunRef("deploy-bot", world.session_id))


async def test_asked_once_over_http_whoever_comes_with_the_key_has_the_same_request(
    world: World,
) -> None:
    replies = await asyncio.gather(*(ask(world, "thread-7/call-1") for _ in range(10)))

    assert sorted(reply.status for reply in replies) == [200] * 9 + [201]
    [request_id] = {reply.json["request"]["permissionId"] for reply in replies}
    assert await open_here(world) == [request_id]

    await world.respond(request_id, approved=False, reason="not today")
    again = await ask(world, '"thread-7/call-1"', description="in other words", callId="another")
    assert again.status == 200
    assert again.json["response"]["reason"] == "not today"
    assert await open_here(world) == []


async def test_another_request_under_the_key_is_refused(world: World) -> None:
    await ask(world, "k")

    for reply in (
        await ask(world, "k", arguments={"command": "rm x"}),
        await ask(world, "k", functionName="deploy"),
        await ask(world, "k", requestedBy="slack:U0CAROL"),
        await world.call(
            "POST",
            f"{world.branch}/requests",
            {"type": "CLARIFICATION_REQUEST", "question": "Which?"},
            headers={"Idempotency-Key": "k"},
        ),
        await world.call(
            "POST",
            f"{world.branch}/requests",
            a_body(),
            token=REVIEWER,
            headers={"Idempotency-Key": "k"},
        ),
    ):
        assert reply.problem == (422, "IdempotencyKeyReused")

    assert len(await open_here(world)) == 1


async def test_a_question_in_words_is_asked_once_too(world: World) -> None:
    async def clarify(question: str) -> Reply:
        body = {"type": "CLARIFICATION_REQUEST", "question": question}
        headers = {"Idempotency-Key": "which"}
        return await world.call("POST", f"{world.branch}/requests", body, headers=headers)

    first, again, other = [await clarify(text) for text in ("Which?", "Which?", "When?")]

    assert (first.status, again.status) == (201, 200)
    assert again.json["request"] == first.json["request"]
    assert other.problem == (422, "IdempotencyKeyReused")


async def test_a_key_is_one_of_its_session_over_http(world: World) -> None:
    elsewhere = replace(world, session_id=f"{world.session_id}-2")

    assert (await ask(world, "k")).status == 201
    assert (await ask(elsewhere, "k")).status == 201


@pytest.mark.parametrize("key", ["", "x" * 1_025, '""'])
async def test_what_cannot_be_a_key_is_refused(world: World, key: str) -> None:
    assert (await ask(world, key)).problem == (400, "InvalidIdempotencyKey")
    assert await open_here(world) == []


async def test_a_rule_that_came_since_denies_what_was_approved_under_the_key(
    world: World,
) -> None:
    request_id = (await ask(world, "k")).json["request"]["permissionId"]
    await world.respond(request_id)
    call, run = (
        ToolCall("run_command", a_body()["arguments"]),
        RunRef("deploy-bot", world.session_id),
    )
    await always_deny(world.backend, call, run)

    again = await ask(world, "k")

    assert again.json["response"]["approved"] is False
    shown = await world.call("GET", f"{world.branch}/requests/{request_id}")
    assert shown.json["response"] == again.json["response"]


async def test_an_open_request_that_is_denied_by_now_ends_so(world: World) -> None:
    request_id = (await ask(world, "k")).json["request"]["permissionId"]
    call, run = (
        ToolCall("run_command", a_body()["arguments"]),
        RunRef("deploy-bot", world.session_id),
    )
    await always_deny(world.backend, call, run)

    again = await ask(world, "k")

    assert again.json["request"]["permissionId"] == request_id
    assert again.json["response"]["approved"] is False
    assert await open_here(world) == []
