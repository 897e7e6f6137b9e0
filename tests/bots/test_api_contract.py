"""The description of the hosted API is true: whatever fits it or not, answers are as described."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
import requests
from bots.api_world import (  # noqa: TID251  the folder of these tests
    API,
    ROUTE,
    World,
    token_lines,
    world_on,
)
from hypothesis import HealthCheck, Phase, given, settings

from assent.memory import memory_backend
from assent_playground import Playground

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

ALL = f"assent_{'all':x<43}"
TOML = f"{ROUTE}{API}{token_lines('reviewer', ALL, more='answers_own = true')}"
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
# Each operation with a status that is met only by what got through to what it is for.
OPERATIONS = {"ask": 201, "show": 404, "follow": 200, "makeTicket": 201, "answer": 409}


def explore(url: str, operation_id: str, mode: GenerationMode, examples: int) -> set[int]:
    """Call an operation with many inputs; the statuses it answered with."""
    schema: Any = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operation = next(
        found
        for result in schema.get_all_operations()
        if (found := result.ok()).definition.raw["operationId"] == operation_id
    )
    statuses: set[int] = set()

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    def call(case: Any) -> None:
        headers = {"Authorization": f"Bearer {ALL}"}
        if operation_id == "follow":
            # A stream does not end, so it is not read to its end.
            sent = case.as_transport_kwargs(base_url=url, headers=headers)
            with requests.request(**sent, stream=True, timeout=10) as response:
                statuses.add(response.status_code)
                if response.status_code == 200:
                    kind = response.headers["Content-Type"]
                    assert kind.startswith("text/event-stream")
                    return
                case.validate_response(response, checks=CHECKS)
            return
        response = case.call(base_url=url, headers=headers, timeout=10)
        statuses.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    call()
    return statuses


async def exploring(world: World, operation_id: str) -> set[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        good, bad = [
            await asyncio.to_thread(explore, world.url, operation_id, mode, 40)
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        ]
    return good | bad


@pytest.mark.parametrize("operation_id", OPERATIONS)
async def test_answers_are_as_described(operation_id: str) -> None:
    async with (
        Playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, TOML) as world,
    ):
        statuses = await exploring(world, operation_id)

    assert max(statuses) < 500
    assert OPERATIONS[operation_id] in statuses


@pytest.mark.asyncio(loop_scope="module")
async def test_the_description_names_every_endpoint_and_kind(world: World) -> None:
    described = (await world.call("GET", "/openapi.json", token=None)).json

    operations = {
        operation["operationId"]
        for path in described["paths"].values()
        for method, operation in path.items()
        if method != "parameters"
    }
    assert operations == {*OPERATIONS, "describe"}
    assert described["openapi"] == "3.1.0"
    kinds = described["components"]["schemas"]["NewRequest"]["discriminator"]["mapping"]
    assert {"PERMISSION_REQUEST", "CONTINUATION_REQUEST", "CLARIFICATION_REQUEST"} <= set(kinds)
