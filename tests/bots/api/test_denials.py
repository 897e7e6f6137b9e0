"""Nothing comes before a denial over HTTP, either: the recorded response says so."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from store_contracts.floor import a_floor
from support.api_world import TOML, World, world_on
from support.denials import always_deny
from support.late_floors import late
from support.playing import a_playground

from sayso import RunRef, ToolCall
from sayso.stores.memory import memory_backend

pytestmark = pytest.mark.asyncio(loop_scope="module")

NO_RM = """
[policy]
deny = [{ tool = "run_command", params = { command = "rm *" } }]
"""


@pytest_asyncio.fixture(loop_scope="module")
async def strict() -> AsyncIterator[World]:
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, TOML + NO_RM) as world,
    ):
        yield world


async def test_an_approval_of_what_is_always_denied_is_recorded_as_denied(world: World) -> None:
    async with await world.follow() as stream:
        request = await world.asked()
        call = ToolCall(request["functionName"], request["arguments"])
        rule_id = await always_deny(world.backend, call, RunRef("deploy-bot", world.session_id))

        reply = await world.respond(request["permissionId"])

        assert reply.problem == (409, "DeniedByRule")
        assert rule_id in reply.json["detail"]
        recorded = reply.json["response"]
        assert (recorded["approved"], recorded["line"]) == (False, "remembered always deny")
        shown = await world.call("GET", f"{world.branch}/requests/{request['permissionId']}")
        assert shown.json["response"] == recorded
        types = [(await stream.next()).type for _ in range(6)]
        assert "PERMISSION_APPROVED" not in types
        assert types.count("PERMISSION_DENIED") == 2


async def test_a_reviewer_cannot_edit_a_call_into_what_the_settings_deny(strict: World) -> None:
    request = await strict.asked(arguments={"command": "ls x"})

    edited = {"arguments": '{"command": "rm x"}'}
    reply = await strict.respond(request["permissionId"], choiceKey="edit", inputs=edited)

    assert reply.problem == (409, "DeniedByRule")
    assert reply.json["response"]["approved"] is False
    assert reply.json["response"]["line"] == "deny rule 1"
    shown = await strict.call("GET", f"{strict.branch}/requests/{request['permissionId']}")
    assert shown.json["response"]["approved"] is False


async def test_a_denial_at_the_moment_of_asking_names_its_line(strict: World) -> None:
    reply = await strict.ask(permissionId="p-0", arguments={"command": "rm x"})

    assert reply.status == 200
    said = reply.json["response"]
    assert (said["approved"], said["line"]) == (False, "deny rule 1")
    assert said.get("decidedBy") is None


async def test_a_denial_of_the_call_as_it_was_made_counts_where_it_is_opened(
    world: World, strict: World
) -> None:
    run, call = RunRef("deploy-bot", world.session_id), ToolCall("run_command", {"command": "rm x"})
    await always_deny(world.backend, call, run)

    for asked in (world, strict):
        reply = await asked.ask(
            permissionId="p-original",
            arguments={"command": "ls"},
            originalArguments={"command": "rm x"},
        )

        assert reply.status == 200
        assert reply.json["response"]["approved"] is False


async def test_a_remembered_denial_names_its_line_at_the_moment_of_asking(world: World) -> None:
    request = await world.asked()
    call = ToolCall(request["functionName"], request["arguments"])
    rule_id = await always_deny(world.backend, call, RunRef("deploy-bot", world.session_id))

    said = (await world.ask(permissionId="p-1")).json["response"]

    assert (said["approved"], said["line"]) == (False, "remembered always deny")
    assert rule_id in said["reason"]


async def test_a_call_asked_over_http_carries_the_deny_rules_of_the_settings_and_no_others(
    strict: World,
) -> None:
    mine = {"line": "mine", "rule": {"tool": "run_command"}}
    first = await strict.ask(permissionId="p-1", arguments={"command": "ls"}, denyRules=[mine])
    again = await strict.ask(permissionId="p-1", arguments={"command": "ls"}, denyRules=[mine])

    assert (first.status, again.status) == (201, 200)
    [rule] = first.json["request"]["denyRules"]
    assert (rule["line"], rule["rule"]["params"]) == ("deny rule 1", {"command": "rm *"})
    assert again.json == first.json


async def test_the_sender_of_a_repeated_approval_is_told_of_the_denial_again(world: World) -> None:
    request = await world.asked()
    call = ToolCall(request["functionName"], request["arguments"])
    await always_deny(world.backend, call, RunRef("deploy-bot", world.session_id))
    await world.respond(request["permissionId"])

    reply = await world.respond(request["permissionId"])

    assert reply.problem == (409, "AlreadyAnswered")
    assert reply.json["response"]["approved"] is False


async def test_what_the_settings_allow_is_recorded_on_the_rules_it_was_allowed_on() -> None:
    toml = TOML + '[policy]\ndefault = "allow"\naudit = true\n'
    async with a_playground() as playground, memory_backend() as kept:
        backend, _ = late(kept, a_floor("run_command"))
        async with world_on(playground, backend, toml) as world:
            reply = await world.ask(permissionId="p-late")

    assert reply.json["response"]["approved"] is False
