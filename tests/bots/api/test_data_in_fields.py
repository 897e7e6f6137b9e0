"""Data in fields over HTTP: asked with a schema, answered with data that it allows."""

from __future__ import annotations

from typing import Any

import pytest
from support.api_world import REVIEWER, Reply, World
from support.schemas import COMMON, COMMON_DATA

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def asked(world: World) -> str:
    body = {"type": "STRUCTURED_INPUT_REQUEST", "text": "What?", "jsonSchema": COMMON}
    reply = await world.call("POST", f"{world.branch}/requests", body)
    assert reply.status == 201, reply.text
    request_id: str = reply.json["request"]["requestId"]
    return request_id


async def answer(world: World, request_id: str, **more: Any) -> Reply:
    body = {"type": "STRUCTURED_INPUT_RESPONSE", "requestId": request_id, **more}
    return await world.call("POST", f"{world.branch}/responses", body, token=REVIEWER)


async def test_data_of_all_common_shapes_is_taken_as_it_is(world: World) -> None:
    reply = await answer(world, await asked(world), data=COMMON_DATA)

    assert (reply.status, reply.json["data"]) == (200, COMMON_DATA)


async def test_a_form_of_all_common_shapes_is_filled_in_by_the_names_of_its_fields(
    world: World,
) -> None:
    inputs = {
        "at": "2026-11-21T14:30:00Z",
        "to": "ana@example.com",
        "page": "https://example.com/a",
        "tags": ["new", "a, b"],
        "level": "hi",
        "servers": [{"host": "web", "port": 80}],
        "pay": {"kind": "bank", "iban": "DE"},
    }

    reply = await answer(world, await asked(world), choiceKey="fill-in", inputs=inputs)

    assert (reply.status, reply.json["data"]) == (200, COMMON_DATA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": "2026-11-21T14:30:00"},
        {"to": "ana"},
        {"page": "example.com"},
        {"tags": ["a", 1]},
        {"tags": "a"},
        {"level": "High"},
        {"servers": [{"host": "web"}]},
        {"servers": [{"host": "web", "port": "80"}]},
        {"servers": [{"host": "web", "port": 80}] * 4},
        {"servers": {}},
        {"pay": {"kind": "bank", "number": "4"}},
        {"pay": {"kind": "cash"}},
        {"pay": None},
        {"more": 1},
    ],
    ids=str,
)
async def test_data_that_the_schema_does_not_allow_decides_nothing(
    world: World, wrong: dict[str, Any]
) -> None:
    request_id = await asked(world)

    reply = await answer(world, request_id, data={**COMMON_DATA, **wrong})

    assert reply.problem == (422, "InvalidEvent")
    assert (await answer(world, request_id, data=COMMON_DATA)).status == 200
