"""A body says one thing: no name twice, and a yes is true, not 1."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.api_world import REVIEWER, World

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    "body",
    [
        b'{"type": "PERMISSION_REQUEST", "functionName": "ls", "functionName": "rm"}',
        b'{"type": "PERMISSION_REQUEST", "functionName": "x", "arguments": {"a": 1, "a": 2}}',
        b'{"type": "PERMISSION_REQUEST", "functionName": "x", "a": [{"b": 1, "\\u0062": 1}]}',
    ],
)
async def test_a_request_with_a_name_twice_is_refused(world: World, body: bytes) -> None:
    reply = await world.call("POST", f"{world.branch}/requests", data=body)

    assert reply.problem == (400, "InvalidJson")
    assert "a name twice" in reply.json["detail"]


async def test_an_answer_with_a_name_twice_decides_nothing(world: World) -> None:
    asked = await world.asked()
    body = {"type": "PERMISSION_RESPONSE", "permissionId": asked["permissionId"], "approved": False}
    data = json.dumps(body).encode()[:-1] + b', "approved": true}'

    reply = await world.call("POST", f"{world.branch}/responses", data=data, token=REVIEWER)

    assert reply.problem == (400, "InvalidJson")
    assert (await world.respond(asked["permissionId"])).status == 200


@pytest.mark.parametrize("yes", [1, 1.0, "true", "yes", "1", [True]])
async def test_an_approval_that_is_not_true_is_none(world: World, yes: Any) -> None:
    asked = await world.asked()
    other = await world.call(
        "POST",
        f"{world.branch}/requests",
        {"type": "TEXT_APPROVAL_REQUEST", "title": "Mail", "text": "Dear all"},
    )
    text = {"type": "TEXT_APPROVAL_RESPONSE", "requestId": other.json["request"]["requestId"]}

    reply = await world.respond(asked["permissionId"], approved=yes)
    by_key = await world.respond(asked["permissionId"], approved=yes, choiceKey="allow")
    of_text = await world.call(
        "POST", f"{world.branch}/responses", {**text, "approved": yes}, token=REVIEWER
    )

    assert reply.pointers == by_key.pointers == of_text.pointers == ["/approved"]
    assert (await world.respond(asked["permissionId"], approved=False)).status == 200


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"currentIteration": "3", "maxIterations": 5}, "/currentIteration"),
        ({"currentIteration": 3, "maxIterations": True}, "/maxIterations"),
    ],
)
async def test_a_number_in_quotes_or_a_true_is_no_number(
    world: World, fields: dict[str, Any], pointer: str
) -> None:
    body = {"type": "CONTINUATION_REQUEST", **fields}

    reply = await world.call("POST", f"{world.branch}/requests", body)

    assert reply.pointers == [pointer]


@pytest.mark.parametrize("moment", [1_900_000_000, 1.5, True, ["2030-01-01T00:00:00Z"]])
async def test_a_moment_is_a_string(world: World, moment: Any) -> None:
    assert (await world.ask(expiresAt=moment)).pointers == ["/expiresAt"]


@pytest.mark.parametrize("text", [b"\\ud800", b"\\udc00x", b"\\ud800\\ud800"])
async def test_half_of_a_surrogate_pair_is_no_json(world: World, text: bytes) -> None:
    asked = await world.asked()
    answer = b'{"type": "PERMISSION_RESPONSE", "permissionId": "%b", "approved": true}'
    request = b'{"type": "PERMISSION_REQUEST", "functionName": "%b"}'

    replies = [
        await world.call("POST", f"{world.branch}/requests", data=request.replace(b"%b", text)),
        await world.call(
            "POST", f"{world.branch}/responses", data=answer.replace(b"%b", text), token=REVIEWER
        ),
    ]

    assert [reply.problem for reply in replies] == [(400, "InvalidJson")] * 2
    assert (await world.respond(asked["permissionId"])).status == 200


async def test_what_a_call_was_before_is_no_larger_than_a_call(world: World) -> None:
    reply = await world.ask(originalArguments={"command": "x" * 300_000})

    assert reply.pointers == ["/originalArguments"]


async def test_a_reason_is_no_book(world: World) -> None:
    asked = await world.asked()

    long = await world.respond(asked["permissionId"], approved=False, reason="x" * 20_001)
    assert long.pointers == ["/reason"]

    reply = await world.respond(asked["permissionId"], approved=False, reason="x" * 20_000)
    assert reply.status == 200
