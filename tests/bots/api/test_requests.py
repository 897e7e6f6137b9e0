"""The hosted API: requests in."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.api_world import REVIEWER, TOML, World, a_body, world_on
from support.playing import a_playground
from support.records_0_1_0 import request_of_0_1_0

from sayso.calls import RunRef, ToolCall
from sayso.digests import arguments_digest
from sayso.events import PermissionRequestEvent
from sayso.stores.connect import open_store

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_the_server_knows_is_filled_in(world: World) -> None:
    before = datetime.now(UTC)

    reply = await world.ask(description="deploy", timeout="2m")

    assert reply.status == 201
    request, response = reply.json["request"], reply.json["response"]
    assert response is None
    assert reply.headers["Location"] == f"{world.branch}/requests/{request['permissionId']}"
    assert len(request["permissionId"]) >= 22
    assert request["type"] == "PERMISSION_REQUEST"
    assert request["sourceName"] == "deploy-bot"
    assert request["requestedBy"] == "api:ci"
    assert request["argumentsDigest"] == arguments_digest({"command": "terraform apply"})
    assert request["callId"]
    run = request["run"]
    assert (run["agentId"], run["sessionId"], run["branchId"]) == (
        "deploy-bot",
        world.session_id,
        "main",
    )
    assert run["runId"]
    expires = datetime.fromisoformat(request["expiresAt"])
    assert timedelta(seconds=119) < expires - before < timedelta(seconds=130)
    stored = await world.backend.store.get(request["permissionId"])
    assert stored is not None
    assert isinstance(stored.request, PermissionRequestEvent)
    assert stored.request.description == "deploy"


async def test_why_a_policy_asks_is_no_word_of_the_caller(world: World) -> None:
    request = await world.asked(askedBecause="security approved it")

    assert request["askedBecause"] == ""
    stored = await world.backend.store.get(request["permissionId"])
    assert stored is not None
    assert "Asked because" not in dict(stored.request.card().facts)


async def test_a_request_comes_to_the_chat_and_its_answer_back(world: World) -> None:
    request = await world.asked()
    card = await world.card()

    await world.playground.slack.press(card, "Allow", by="alice")

    shown = await world.call("GET", f"{world.branch}/requests/{request['permissionId']}")
    assert shown.json["response"]["approved"] is True
    assert shown.json["response"]["decidedBy"] == "slack:U0ALICE"
    assert shown.json["response"]["argumentsDigest"] == request["argumentsDigest"]


async def test_repeating_a_request_changes_nothing_and_gets_the_same_answer(
    world: World,
) -> None:
    body = a_body(permissionId=f"an-id-of-the-client-{world.session_id}")
    first = await world.call("POST", f"{world.branch}/requests", body)
    again = await world.call("POST", f"{world.branch}/requests", body)
    at_once = await asyncio.gather(
        *(
            world.call(
                "POST",
                f"{world.branch}/requests",
                {**body, "permissionId": f"at-once-{world.session_id}"},
            )
            for _ in range(5)
        )
    )

    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert sorted(reply.status for reply in at_once) == [200, 200, 200, 200, 201]
    assert len({reply.text for reply in at_once}) == 1


async def test_an_id_with_other_content_is_taken(world: World) -> None:
    await world.asked(permissionId=f"taken{world.session_id}")

    other = await world.ask(permissionId=f"taken{world.session_id}", arguments={"command": "ls"})
    elsewhere = await world.ask(permissionId=f"taken{world.session_id}", branch=f"{world.branch}2")

    assert other.problem == elsewhere.problem == (409, "DuplicateRequest")
    assert other.json["errors"] == [{"pointer": "/permissionId", "detail": "is taken"}]


@pytest.mark.parametrize(
    ("more", "pointers"),
    [
        ({"type": "NO_SUCH_REQUEST"}, ["/type"]),
        ({"type": "PERMISSION_RESPONSE"}, ["/type"]),
        ({"type": 7}, ["/type"]),
        ({"functionName": 7}, ["/functionName"]),
        ({"functionName": ""}, ["/functionName"]),
        ({"functionName": "f" * 257}, ["/functionName"]),
        ({"sourceName": "s" * 257}, ["/sourceName"]),
        ({"callId": "c" * 257}, ["/callId"]),
        ({"description": "d" * 20_001}, ["/description"]),
        ({"run": {"runId": "r" * 129}}, ["/run/runId"]),
        ({"run": {"project": "p" * 129}}, ["/run/project"]),
        ({"run": {"project": 7}}, ["/run/project"]),
        ({"path": ["p" * 257]}, ["/path/0"]),
        ({"path": ["p"] * 33}, ["/path"]),
        ({"arguments": ["a"]}, ["/arguments"]),
        ({"arguments": {"x": "y" * 300_000}}, ["/arguments"]),
        ({"argumentsDigest": "0" * 64}, ["/argumentsDigest"]),
        ({"permissionId": "with space"}, ["/permissionId"]),
        ({"permissionId": ""}, ["/permissionId"]),
        ({"permissionId": None}, ["/permissionId"]),
        ({"timeout": 0}, ["/timeout"]),
        ({"timeout": "31d"}, ["/timeout"]),
        ({"timeout": True}, ["/timeout"]),
        ({"timeout": 1e999}, None),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, ["/expiresAt"]),
        ({"expiresAt": "2999-01-01T00:00:00Z"}, ["/expiresAt"]),
        ({"expiresAt": "2999-01-01T00:00:00Z", "timeout": 5}, ["/timeout"]),
        ({"requestedBy": "alice"}, ["/requestedBy"]),
        ({"requestedBy": "slack:@oncall"}, ["/requestedBy"]),
        ({"requestedBy": "slack:U0 ALICE"}, ["/requestedBy"]),
        ({"requestedBy": 4242}, ["/requestedBy"]),
        ({"requestedBy": "slack:U0ALICE "}, ["/requestedBy"]),
        ({"requestedBy": "slack:alice"}, ["/requestedBy"]),
        ({"requestedBy": "telegram:04242"}, ["/requestedBy"]),
        ({"requestedBy": "telegram:alice"}, ["/requestedBy"]),
        ({"filedBy": "api:somebody-else"}, ["/filedBy"]),
        ({"run": {"agentId": "another", "runId": 7}}, ["/run/agentId", "/run/runId"]),
        ({"run": 7}, ["/run"]),
        ({"path": ["a", 7, "c"]}, ["/path/1"]),
        (
            {"type": "CLARIFICATION_REQUEST", "question": "?", "options": ["a", "a"]},
            ["/options/1"],
        ),
        ({"type": "CLARIFICATION_REQUEST"}, ["/question"]),
        ({"type": "CONTINUATION_REQUEST", "currentIteration": 1}, ["/maxIterations"]),
    ],
)
async def test_a_wrong_field_is_pointed_at(
    world: World,
    more: dict[str, Any],
    pointers: list[str] | None,
) -> None:
    reply = await world.ask(**more)

    if pointers is None:
        assert reply.problem == (400, "InvalidJson")
    else:
        assert reply.pointers == pointers


async def test_an_unknown_type_names_those_there_are(world: World) -> None:
    reply = await world.ask(type="NO_SUCH_REQUEST")

    for known in ("PERMISSION_REQUEST", "CONTINUATION_REQUEST", "CLARIFICATION_REQUEST"):
        assert known in reply.json["detail"]


@pytest.mark.parametrize(
    ("data", "headers", "problem"),
    [
        (b"{", {}, (400, "InvalidJson")),
        (b"[]", {}, (400, "InvalidJson")),
        (b"\xff", {}, (400, "InvalidJson")),
        (b'{"a": "\\ud800"}', {}, (400, "InvalidJson")),
        (b"[" * 100_000, {}, (400, "InvalidJson")),
        (b"{}", {"Content-Type": "text/plain"}, (415, "UnsupportedMediaType")),
        (b"x" * (1024 * 1024 + 1), {}, (413, "TooLarge")),
    ],
)
async def test_a_body_that_is_no_event_is_refused(
    world: World,
    data: bytes,
    headers: dict[str, str],
    problem: tuple[int, str],
) -> None:
    reply = await world.call("POST", f"{world.branch}/requests", data=data, headers=headers)

    assert reply.problem == problem


async def test_a_body_of_a_mebibyte_is_read(world: World) -> None:
    body = json.dumps(a_body()).encode()

    reply = await world.call("POST", f"{world.branch}/requests", data=body.ljust(1024 * 1024))

    assert reply.status == 201


async def test_unknown_fields_are_ignored(world: World) -> None:
    request = await world.asked(somethingNew={"a": 1}, function_name="not the wire's name")

    assert "somethingNew" not in request
    assert request["functionName"] == "run_command"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/agents", (404, "NotFound")),
        ("/agents/a/sessions/b/branches/c/nothing", (404, "NotFound")),
        ("/agents/deploy-bot/sessions/s/branches/b/requests/no", (404, "UnknownRequest")),
        (
            f"/agents/deploy-{'x' * 300}/sessions/s/branches/main/requests/x",
            (400, "InvalidAddress"),
        ),
        ("/agents/deploy-bot/sessions/a%00b/branches/main/requests/x", (400, "InvalidAddress")),
    ],
)
async def test_an_address_that_leads_nowhere_says_so(
    world: World,
    path: str,
    problem: tuple[int, str],
) -> None:
    assert (await world.call("GET", path)).problem == problem


async def test_a_request_is_seen_in_its_own_branch_alone(world: World) -> None:
    request = await world.asked()

    reply = await world.call(
        "GET", f"{world.branch}2/requests/{request['permissionId']}", token=REVIEWER
    )

    assert reply.problem == (404, "UnknownRequest")


async def test_a_digest_of_0_1_0_is_right_and_repeats_what_was_asked_then(world: World) -> None:
    arguments = {"command": "ls", "count": 1}
    call = ToolCall("run_command", arguments, "call-1")
    old = request_of_0_1_0(call, RunRef("deploy-bot", world.session_id, run_id="run-1"))
    asked = old.model_copy(update={"requested_by": "api:ci"})
    await world.backend.store.open(asked, seconds=60, inbox="", book=None)

    for digest in (None, old.arguments_digest, arguments_digest(arguments)):
        again = await world.ask(
            permissionId=old.permission_id,
            arguments=arguments,
            argumentsDigest=digest,
            sourceName=old.source_name,
        )
        assert (again.status, again.json["request"]["argumentsDigest"]) == (
            200,
            old.arguments_digest,
        )
    other = await world.ask(permissionId=old.permission_id, arguments={"command": "ls"})
    wrong = await world.ask(
        arguments={"command": "ls", "count": 2}, argumentsDigest=old.arguments_digest
    )

    assert (other.status, wrong.status) == (409, 422)


async def test_other_methods_are_told_which_there_are(world: World) -> None:
    reply = await world.call("PUT", f"{world.branch}/requests", {})

    assert reply.problem == (405, "MethodNotAllowed")
    assert reply.headers["Allow"] == "POST, OPTIONS"


async def test_names_with_every_character_are_names(world: World) -> None:
    branch = "/agents/deploy-b%C3%B6t%2F%7B1%7D/sessions/s%20%3A%23%3F/branches/%F0%9F%92%A5"

    request = await world.asked(branch=branch)

    assert request["run"]["agentId"] == "deploy-böt/{1}"
    assert request["run"]["sessionId"] == "s :#?"
    assert request["run"]["branchId"] == "💥"


async def test_what_a_person_always_allows_is_not_asked_again(world: World) -> None:
    first = await world.asked()
    await world.respond(first["permissionId"], choice="always_allow")

    again = await world.ask()
    other = await world.ask(arguments={"command": "ls"})

    assert again.status == 200
    assert again.json["request"]["argumentsDigest"] == first["argumentsDigest"]
    response = again.json["response"]
    assert response["approved"] is True
    assert (
        response["permissionId"] == again.json["request"]["permissionId"] != first["permissionId"]
    )
    assert response["decidedBy"] is None
    assert response["reason"]
    assert other.status == 201
    (rule,) = [
        kept.remembered
        for kept in await world.backend.rules.all()
        if kept.session_id == world.session_id
    ]
    assert rule.uses == 1


async def test_what_a_person_always_denies_is_denied_at_once(world: World) -> None:
    first = await world.asked()
    await world.respond(first["permissionId"], approved=False, choice="always_deny")

    again = await world.ask()

    assert again.status == 200
    assert again.json["response"]["approved"] is False


async def test_by_a_setting_what_rules_decide_over_http_is_audited(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = '[policy]\naudit = true\nallow = [{ tool = "read" }]\n'
    with caplog.at_level(logging.INFO, "sayso"):
        async with (
            a_playground() as playground,
            open_store("memory://") as backend,
            world_on(playground, backend, TOML + policy) as world,
        ):
            await world.ask(functionName="read")
            (entry,) = await backend.audit.read(9)

    assert (entry.kind, entry.subject, entry.reason) == ("rule_allowed", "read", "allow rule 1")
    assert "read is allowed by allow rule 1" in caplog.text


async def test_what_the_policy_decides_is_recorded_and_over_with_that() -> None:
    policy = '[[policy]]\nallow = [{ tool = "read" }]\ndeny = [{ tool = "format_disk" }]\n'
    async with (
        a_playground() as playground,
        open_store("memory://") as backend,
        world_on(playground, backend, TOML + policy) as world,
    ):
        for number, tool in enumerate(("read", "format_disk")):
            asked = {"functionName": tool, "permissionId": f"p-{number}"}
            first = await world.ask(**asked)
            again = await world.ask(**asked)
            shown = await world.call("GET", f"{world.branch}/requests/p-{number}")

            assert first.status == again.status == shown.status == 200
            assert first.json == again.json
            assert shown.json["response"] == first.json["response"]
            assert first.json["response"]["approved"] is (tool == "read")
        other = await world.ask(functionName="read", permissionId="p-0", arguments={"path": "x"})
        assert other.status == 409
        assert await backend.audit.read(10) == []
        assert await backend.store.list_requests() == []


async def test_the_policy_of_the_settings_counts() -> None:
    policy = '[policy]\nallow = [{ tool = "read" }]\ndeny = [{ tool = "format_disk" }]\n'
    async with (
        a_playground() as playground,
        open_store("memory://") as backend,
        world_on(playground, backend, TOML + policy) as world,
    ):
        replies = [
            await world.ask(functionName=tool) for tool in ("read", "format_disk", "run_command")
        ]
        pending = await backend.store.list_requests()

    responses = [reply.json["response"] for reply in replies]
    assert [response and response["approved"] for response in responses] == [True, False, None]
    assert [record.request.subject for record in pending] == ["run_command"]
