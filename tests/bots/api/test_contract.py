"""The description of the hosted API is true: whatever fits it or not, answers are as described."""

from __future__ import annotations

import asyncio
import itertools
import warnings
from typing import Any

import jsonschema_rs
import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings
from support.api_world import (
    API,
    ROUTE,
    World,
    token_lines,
    world_on,
)
from support.examples import examples
from support.playing import a_playground

from sayso.stores.memory import memory_backend
from sayso.testing.builders import PATIENCE_SECONDS

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

ALL = f"sayso_{'all':x<43}"
TOML = (
    f"{ROUTE}self_approval = true\n{API}{token_lines('reviewer', ALL, more='answers_own = true')}"
)
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
# Each operation with a status that is met only by what got through to what it is for.
OPERATIONS = {
    "ask": {201},
    "show": {404},
    "withdraw": {404},
    "follow": {200},
    "makeTicket": {201},
    "answer": {200, 409},
}
BRANCH = {"agentId": "deploy-bot", "sessionId": "s-42", "branchId": "main"}
# What each kind of response answers, and where its id is.
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "PERMISSION_RESPONSE": (
        "permissionId",
        {"type": "PERMISSION_REQUEST", "functionName": "ls", "arguments": {"path": "/"}},
    ),
    "CONTINUATION_RESPONSE": (
        "continuationId",
        {"type": "CONTINUATION_REQUEST", "currentIteration": 5, "maxIterations": 5},
    ),
    "CLARIFICATION_RESPONSE": ("requestId", {"type": "CLARIFICATION_REQUEST", "question": "?"}),
    "TEXT_APPROVAL_RESPONSE": (
        "requestId",
        {"type": "TEXT_APPROVAL_REQUEST", "title": "Mail", "text": "Dear all"},
    ),
    "STRUCTURED_INPUT_RESPONSE": (
        "requestId",
        {
            "type": "STRUCTURED_INPUT_REQUEST",
            "text": "?",
            "jsonSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
    ),
}


def ask_first(url: str, case: Any) -> None:
    """Let the response of a case answer a request that is open."""
    body = case.body
    kind = body.get("type") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in QUESTIONS:
        return
    id_name, question = QUESTIONS[kind]
    asked = requests.post(
        f"{url}/agents/deploy-bot/sessions/s-42/branches/main/requests",
        json=question,
        headers={"Authorization": f"Bearer {ALL}"},
        timeout=PATIENCE_SECONDS,
    )
    assert asked.status_code == 201, asked.text
    case.path_parameters = dict(BRANCH)
    case.body = {**body, id_name: asked.json()["request"][id_name]}


def explore(url: str, operation_id: str, mode: GenerationMode, examples: int) -> set[int]:
    """Call an operation with many inputs; the statuses it answered with."""
    schema: Any = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operation = next(
        found
        for result in schema.get_all_operations()
        if (found := result.ok()).definition.raw["operationId"] == operation_id
    )
    statuses: set[int] = set()
    calls = itertools.count()

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
            with requests.request(**sent, stream=True, timeout=PATIENCE_SECONDS) as response:
                statuses.add(response.status_code)
                if response.status_code == 200:
                    kind = response.headers["Content-Type"]
                    assert kind.startswith("text/event-stream")
                    return
                case.validate_response(response, checks=CHECKS)
            return
        if operation_id == "answer" and next(calls) % 2:
            ask_first(url, case)
        response = case.call(base_url=url, headers=headers, timeout=PATIENCE_SECONDS)
        statuses.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    call()
    return statuses


async def exploring(world: World, operation_id: str) -> set[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        good, bad = [
            await asyncio.to_thread(explore, world.url, operation_id, mode, max(40, examples(80)))
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        ]
    return good | bad


@pytest.mark.parametrize("operation_id", OPERATIONS)
async def test_answers_are_as_described(operation_id: str) -> None:
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, TOML) as world,
    ):
        statuses = await exploring(world, operation_id)

    assert max(statuses) < 500
    assert OPERATIONS[operation_id] <= statuses


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
    answers = described["components"]["schemas"]["NewResponse"]["discriminator"]["mapping"]
    assert set(QUESTIONS) <= set(answers)  # other tests may define kinds of their own


@pytest.mark.asyncio(loop_scope="module")
async def test_the_description_says_what_an_answer_needs(world: World) -> None:
    schemas = (await world.call("GET", "/openapi.json", token=None)).json["components"]["schemas"]
    answer = schemas["NewPermissionResponseEvent"]

    def fits(body: dict[str, Any]) -> bool:
        components = {"components": {"schemas": schemas}}
        return jsonschema_rs.is_valid({**components, **answer}, body)

    known = {"type": "PERMISSION_RESPONSE", "permissionId": "x"}
    assert fits({**known, "approved": True, "reason": None})
    assert fits({**known, "choiceKey": "allow", "inputs": {}})
    assert not fits(known)
    assert not fits({**known, "choice": "always_allow"})
    assert not fits({"type": "PERMISSION_RESPONSE", "approved": True})
    asked = schemas["NewPermissionRequestEvent"]
    assert asked["required"] == ["type", "functionName"]
    assert asked["properties"]["functionName"]["maxLength"] == 256


@pytest.mark.asyncio(loop_scope="module")
async def test_the_description_names_the_events_and_the_problems(world: World) -> None:
    described = (await world.call("GET", "/openapi.json", token=None)).json

    schemas = described["components"]["schemas"]
    kinds = {entry["$ref"].rpartition("/")[2] for entry in schemas["Event"]["anyOf"]}
    assert (
        {
            "PermissionRequestEvent",
            "PermissionResponseEvent",
            "PermissionApprovedEvent",
            "RequestExpiredEvent",
            "ClarificationResponseEvent",
            "StreamError",
        }
        <= kinds
        <= set(schemas)
    )
    assert {"response", "lastEventId", "errors", "code"} <= set(schemas["Problem"]["properties"])
    for path in described["paths"].values():
        for method, operation in path.items():
            if method != "parameters":
                assert "500" in operation["responses"]
