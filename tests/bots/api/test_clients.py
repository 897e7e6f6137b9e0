"""The hosted API takes what clients write: optional fields that are null, defaults left out."""

from __future__ import annotations

from typing import Any

import pytest
from support.api_world import REVIEWER, World

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONTINUATION = {"type": "CONTINUATION_REQUEST", "currentIteration": 5, "maxIterations": 5}


async def respond(world: World, body: dict[str, Any]) -> Any:
    return await world.call("POST", f"{world.branch}/responses", body, token=REVIEWER)


def nulls(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names)


async def continued(world: World, **more: Any) -> Any:
    reply = await world.call("POST", f"{world.branch}/requests", CONTINUATION)
    question_id = reply.json["request"]["continuationId"]
    body = {"type": "CONTINUATION_RESPONSE", "continuationId": question_id, **more}
    return await respond(world, body)


@pytest.mark.parametrize("choice", ["always_allow", "always_deny"])
async def test_a_reason_goes_with_a_rule_that_is_stored(world: World, choice: str) -> None:
    request = await world.asked()

    reply = await world.respond(
        request["permissionId"],
        approved=choice == "always_allow",
        choice=choice,
        reason="as agreed",
    )

    assert reply.status == 200, reply.text
    assert (reply.json["choice"], reply.json["reason"]) == (choice, "as agreed")


async def test_a_reason_goes_with_a_button(world: World) -> None:
    request = await world.asked()
    body = {"type": "PERMISSION_RESPONSE", "permissionId": request["permissionId"]}

    reply = await respond(world, {**body, "choiceKey": "deny", "reason": "not today"})

    assert reply.status == 200, reply.text
    assert (reply.json["approved"], reply.json["reason"]) == (False, "not today")


async def test_null_is_as_good_as_nothing_in_a_request(world: World) -> None:
    optional = (
        *("description", "arguments", "callId", "sourceName", "path", "argumentsDigest"),
        *("timeout", "expiresAt", "requestedBy", "suggestedRules", "argumentsSchema"),
    )
    request = await world.asked(run={"runId": None}, **nulls(*optional))
    others = [
        await world.call("POST", f"{world.branch}/requests", body)
        for body in (
            {"type": "CLARIFICATION_REQUEST", "question": "Which?", "options": None, "run": None},
            {**CONTINUATION, "amounts": None, "description": None},
        )
    ]

    assert request["arguments"] == {}
    assert request["sourceName"] == "deploy-bot"
    assert request["run"]["runId"]
    assert [reply.status for reply in others] == [201, 201]


async def test_null_is_as_good_as_nothing_in_a_response(world: World) -> None:
    request = await world.asked()
    optional = ("reason", "choice", "choiceKey", "inputs", "sourceName", "argumentsDigest")
    server = ("decidedBy", "decidedAt", "modifiedArguments", "rule", "asksForChanges")

    reply = await world.respond(request["permissionId"], **nulls(*optional, *server))

    assert reply.status == 200, reply.text
    assert (reply.json["approved"], reply.json["choice"]) == (True, "ask")


async def test_arguments_that_are_left_out_are_none(world: World) -> None:
    body = {"type": "PERMISSION_REQUEST", "functionName": "list_hosts"}

    reply = await world.call("POST", f"{world.branch}/requests", body)

    assert reply.status == 201, reply.text
    assert reply.json["request"]["arguments"] == {}


@pytest.mark.parametrize("amount", [{}, {"extensionAmount": 0}, {"extensionAmount": None}])
async def test_an_extension_without_an_amount_is_the_first_that_is_offered(
    world: World, amount: dict[str, Any]
) -> None:
    reply = await continued(world, approved=True, **amount)

    assert reply.status == 200, reply.text
    assert reply.json["extensionAmount"] == 5


@pytest.mark.parametrize("approved", [True, False])
async def test_an_amount_that_was_not_offered_is_pointed_at(world: World, approved: bool) -> None:
    reply = await continued(world, approved=approved, extensionAmount=7)

    assert reply.pointers == ["/extensionAmount"]
    if approved:
        assert reply.json["errors"][0]["detail"] == "was not offered; offered are 5, 10, 20"


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/approved"]),
        ({"approved": None}, ["/approved"]),
        ({"choice": "always_allow"}, ["/approved"]),
        ({"approved": True, "choice": "always_deny"}, ["/approved"]),
        ({"approved": True, "choice": []}, ["/choice"]),
        ({"approved": True, "choice": {}}, ["/choice"]),
        ({"approved": True, "choiceKey": []}, ["/choiceKey"]),
        ({"approved": True, "choiceKey": {}}, ["/choiceKey"]),
        ({"approved": True, "choice": "always_allow", "reason": 7}, ["/reason"]),
        ({"choiceKey": "allow", "reason": 7}, ["/reason"]),
        ({"choiceKey": "deny-reason", "inputs": {"reason": "a"}, "reason": "b"}, ["/reason"]),
        ({"approved": True, "decidedBy": "slack:U0BOB"}, ["/decidedBy"]),
        ({"approved": True, "decidedAt": "2020-01-01T00:00:00Z"}, ["/decidedAt"]),
        ({"approved": True, "inputs": {"reason": "x"}}, ["/inputs"]),
        ({"approved": True, "choice": "always_allow", "inputs": {}}, ["/inputs"]),
    ],
)
async def test_an_answer_that_is_not_whole_or_contradicts_itself_decides_nothing(
    world: World, body: dict[str, Any], pointers: list[str]
) -> None:
    request = await world.asked()
    fixed = {"type": "PERMISSION_RESPONSE", "permissionId": request["permissionId"]}

    reply = await respond(world, {**fixed, **body})

    assert reply.pointers == pointers
    shown = await world.call("GET", f"{world.branch}/requests/{request['permissionId']}")
    assert shown.json["response"] is None


async def test_a_conflict_is_listed_under_its_name(world: World) -> None:
    reply = await world.respond("no-such-id")

    assert reply.problem == (409, "BranchRuntimeNotActive")
    assert reply.json["errors"] == {"BranchRuntimeNotActive": [reply.json["detail"]]}
