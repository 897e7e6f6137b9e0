"""The hosted API: responses in, by those who may give them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.api_world import (
    API,
    CI,
    REVIEWER,
    TOKENS,
    World,
    token_lines,
    world_on,
)
from support.playing import a_playground

from sayso import Gate, RunRef, ToolCall
from sayso.always.terms import GrantOptions
from sayso.stores.memory import memory_backend

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALL_KINDS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "PERMISSION_REQUEST", "functionName": "ls", "arguments": {}},
        {"type": "PERMISSION_RESPONSE", "approved": False, "reason": "not today"},
        {"approved": False, "reason": "not today", "choice": "ask"},
    ),
    (
        {"type": "CONTINUATION_REQUEST", "currentIteration": 5, "maxIterations": 5},
        {"type": "CONTINUATION_RESPONSE", "approved": True, "extensionAmount": 10},
        {"approved": True, "extensionAmount": 10},
    ),
    (
        {"type": "CLARIFICATION_REQUEST", "question": "Which region?", "options": ["eu", "us"]},
        {"type": "CLARIFICATION_RESPONSE", "answer": "us"},
        {"answer": "us"},
    ),
    (
        {"type": "CLARIFICATION_REQUEST", "question": "Which region?"},
        {"type": "CLARIFICATION_RESPONSE", "choiceKey": "answer", "inputs": {"answer": "mars"}},
        {"answer": "mars"},
    ),
    (
        {"type": "CLARIFICATION_REQUEST", "question": "Which region?"},
        {"type": "CLARIFICATION_RESPONSE", "answer": None},
        {"answer": None},
    ),
    (
        {"type": "TEXT_APPROVAL_REQUEST", "title": "Mail", "text": "Dear all"},
        {"type": "TEXT_APPROVAL_RESPONSE", "approved": True},
        {"approved": True},
    ),
    (
        {"type": "TEXT_APPROVAL_REQUEST", "title": "Mail", "text": "Dear all"},
        {
            "type": "TEXT_APPROVAL_RESPONSE",
            "approved": False,
            "asksForChanges": True,
            "reason": "shorter",
        },
        {"approved": False, "asksForChanges": True, "reason": "shorter"},
    ),
    (
        {
            "type": "STRUCTURED_INPUT_REQUEST",
            "text": "Where to?",
            "jsonSchema": {
                "type": "object",
                "properties": {"replicas": {"type": "integer", "minimum": 1}},
                "required": ["replicas"],
            },
        },
        {"type": "STRUCTURED_INPUT_RESPONSE", "data": {"replicas": 3}},
        {"data": {"replicas": 3}},
    ),
]


async def put(world: World, body: dict[str, Any]) -> str:
    """Ask anything; its id."""
    reply = await world.call("POST", f"{world.branch}/requests", body)
    assert reply.status == 201, reply.text
    request = reply.json["request"]
    names = ("permissionId", "continuationId", "requestId")
    return str(next(request[name] for name in names if name in request))


def id_of(body: dict[str, Any]) -> str:
    """The name of a kind's id."""
    names = {"PERMISSION": "permissionId", "CONTINUATION": "continuationId"}
    return names.get(body["type"].partition("_")[0], "requestId")


@pytest.mark.parametrize(("asked", "answered", "told"), ALL_KINDS)
async def test_every_kind_of_question_can_be_asked_and_answered(
    world: World, asked: dict[str, Any], answered: dict[str, Any], told: dict[str, Any]
) -> None:
    async with await world.follow() as stream:
        question_id = await put(world, asked)
        body = {**answered, id_of(answered): question_id}
        reply = await world.call("POST", f"{world.branch}/responses", body, token=REVIEWER)
        first, second = await stream.next(), await stream.next()

    assert reply.status == 200, reply.text
    response = reply.json
    assert {name: response[name] for name in told} == told
    assert response["type"] == answered["type"]
    assert response["decidedBy"] == "api:reviewer"
    assert response["sourceName"] == "deploy-bot"
    assert first.type == asked["type"]
    assert second.data == response


async def test_the_ids_and_the_digest_are_those_of_the_request(world: World) -> None:
    request = await world.asked(sourceName="ci/runner")

    response = (await world.respond(request["permissionId"], decidedBy="api:reviewer")).json

    assert response["argumentsDigest"] == request["argumentsDigest"]
    assert response["sourceName"] == "ci/runner"
    assert response["decidedBy"] == "api:reviewer"


@pytest.mark.parametrize(
    ("more", "pointers"),
    [
        ({"approved": "perhaps"}, ["/approved"]),
        ({"argumentsDigest": "0" * 64}, ["/argumentsDigest"]),
        ({"sourceName": "another"}, ["/sourceName"]),
        ({"modifiedArguments": {"command": "rm -rf /"}}, ["/modifiedArguments"]),
        ({"rule": {"tool": "*"}}, ["/rule"]),
        ({"reason": 7}, ["/reason"]),
        ({"choice": "for ever"}, ["/choice"]),
        ({"choiceKey": "no-such-button"}, ["/choiceKey"]),
        ({"choiceKey": "allow", "inputs": {"x": 1}}, ["/inputs/x"]),
        ({"choiceKey": "deny", "approved": True}, ["/approved"]),
        ({"type": "NO_SUCH"}, ["/type"]),
        ({"type": "PERMISSION_REQUEST"}, ["/type"]),
        ({"type": "PERMISSION_APPROVED"}, ["/type"]),
        ({"permissionId": 7}, ["/permissionId"]),
        ({"type": "CLARIFICATION_RESPONSE"}, ["/requestId"]),
    ],
)
async def test_a_wrong_field_is_pointed_at_and_nothing_is_decided(
    world: World, more: dict[str, Any], pointers: list[str]
) -> None:
    request = await world.asked()

    reply = await world.respond(request["permissionId"], **more)

    assert reply.pointers == pointers
    shown = await world.call("GET", f"{world.branch}/requests/{request['permissionId']}")
    assert shown.json["response"] is None


async def test_a_response_of_another_kind_answers_nothing(world: World) -> None:
    request = await world.asked()
    body = {
        "type": "CONTINUATION_RESPONSE",
        "continuationId": request["permissionId"],
        "approved": True,
    }

    reply = await world.call("POST", f"{world.branch}/responses", body, token=REVIEWER)

    assert reply.pointers == ["/type"]


async def test_an_amount_that_was_not_offered_is_refused(world: World) -> None:
    question_id = await put(world, ALL_KINDS[1][0])
    body = {**ALL_KINDS[1][1], "continuationId": question_id, "extensionAmount": 7}

    reply = await world.call("POST", f"{world.branch}/responses", body, token=REVIEWER)

    assert reply.problem == (422, "InvalidEvent")
    assert "not offered" in reply.json["detail"]


async def test_where_nothing_is_open_nothing_can_be_answered(world: World) -> None:
    nothing = await world.respond("no-such-id")
    async with await world.follow() as stream:
        request = await world.asked()
        await stream.next()
        other = await world.respond("no-such-id")
        elsewhere = await world.respond(request["permissionId"], branch=f"{world.branch}2")

    assert nothing.problem == elsewhere.problem == (409, "BranchRuntimeNotActive")
    assert other.problem == (409, "NobodyWaits")


async def test_the_first_answer_counts_and_the_second_is_told_which(world: World) -> None:
    request = await world.asked()
    first = await world.respond(request["permissionId"])

    second = await world.respond(request["permissionId"], approved=False)

    assert first.status == 200
    assert second.problem == (409, "AlreadyAnswered")
    assert second.json["response"] == first.json
    assert second.json["detail"] == "it is already approved by api:reviewer"


async def test_of_many_answers_at_once_one_counts(world: World) -> None:
    request = await world.asked()

    replies = await asyncio.gather(
        *(world.respond(request["permissionId"], approved=n % 2 == 0) for n in range(10))
    )

    # The same answer by the same caller is no second one.
    assert {reply.status for reply in replies} == {200, 409}
    assert len({reply.text for reply in replies if reply.status == 200}) == 1


async def test_the_card_in_the_chat_shows_who_answered(world: World) -> None:
    request = await world.asked()
    await world.card()

    await world.respond(request["permissionId"])

    card = await world.card("Approved")
    assert "api:reviewer" in card.all_text


async def test_a_waiting_gate_gets_the_answer(world: World) -> None:
    run = RunRef("deploy-bot", world.session_id)
    async with Gate.open(world.backend, run=run, timeout=30) as gate:
        checking = asyncio.ensure_future(gate.check(ToolCall("ls", {"path": "/"})))
        async with await world.follow("0") as stream:
            request = (await stream.next()).data
        await world.respond(request["permissionId"], reason="go on")
        verdict = await checking

    assert verdict.approved
    assert verdict.decided_by == "api:reviewer"
    assert verdict.reason == "go on"


async def test_who_is_no_approver_may_not_answer(world: World) -> None:
    run = RunRef("deploy-bot", world.session_id)
    async with Gate.open(world.backend, run=run, timeout=30) as gate:
        submitted = await gate.submit(ToolCall("ls"))
        reply = await world.respond(str(submitted), token=CI)

    assert reply.problem == (403, "NotAnApprover")


async def test_nobody_answers_what_it_asked_itself_unless_the_settings_say_so() -> None:
    route = '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["api:ci", "api:both"]\n'
    route += "self_approval = true\n"
    both = f"sayso_{'both':x<43}"
    toml = route + API + TOKENS + token_lines("both", both, more="answers_own = true")
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml) as world,
    ):
        own = await world.asked()
        refused = await world.respond(own["permissionId"], token=CI)
        allowed = await world.respond(own["permissionId"], token=both)
        other = await world.asked(token=both)
        listed = await world.respond(other["permissionId"], token=both)

    assert refused.problem == (403, "OwnRequest")
    assert allowed.status == listed.status == 200


async def test_always_stores_the_rule_that_the_card_offers(world: World) -> None:
    request = await world.asked()

    reply = await world.respond(request["permissionId"], choice="always_allow")

    assert reply.status == 200, reply.text
    assert reply.json["choice"] == "always_allow"
    book = await world.backend.rules.book(RunRef("deploy-bot", world.session_id))
    assert [rule.stored_by for rule in book.remembered] == ["api:reviewer"]
    assert [rule.expires_at - rule.stored_at for rule in book.remembered] == [
        GrantOptions().remember_for
    ]


async def test_a_denial_is_told_to_observers_as_one(world: World) -> None:
    async with await world.follow() as stream:
        request = await world.asked()
        await world.respond(request["permissionId"], approved=False)

        assert await stream.types(3) == [
            "PERMISSION_REQUEST",
            "PERMISSION_RESPONSE",
            "PERMISSION_DENIED",
        ]


async def test_edited_arguments_are_read_by_the_form_of_the_card(world: World) -> None:
    request = await world.asked()
    edited = '{"command": "terraform plan"}'

    reply = await world.respond(
        request["permissionId"], choiceKey="edit", inputs={"arguments": edited}
    )

    assert reply.status == 200, reply.text
    assert reply.json["modifiedArguments"] == {"command": "terraform plan"}
    assert reply.json["argumentsDigest"] == request["argumentsDigest"]


async def test_an_answer_that_remembers_is_about_the_tool_that_was_asked_about_alone(
    world: World,
) -> None:
    run = RunRef("deploy-bot", world.session_id)
    arguments = {"file_path": "src/a.py", "old_string": "1", "new_string": "2"}
    async with Gate.open(world.backend, run=run, folder="/home/dev/shop") as gate:
        submitted = await gate.submit(ToolCall("Edit", arguments))
        assert isinstance(submitted, str)
        reply = await world.respond(submitted, choiceKey="always-2")

    assert reply.status == 200, reply.text
    assert (reply.json["rule"]["tool"], reply.json["rule"].get("also")) == ("Edit", None)
