"""The hosted API when an answer gets lost: what was done is not done twice, nor denied."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.api_world import (
    CI,
    REVIEWER,
    TOML,
    World,
    token_lines,
    world_on,
)
from support.playing import a_playground

from sayso.errors import StoreUnreachableError
from sayso.stores.memory import memory_backend

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECOND = f"sayso_{'second':x<43}"


class LosingReplies:
    """A store that does what it is told; the answers to some calls get lost."""

    def __init__(self, store: Any, *lost: str) -> None:
        self._store = store
        self.lost = set(lost)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._store, name)
        if name not in self.lost:
            return method

        async def lost(*arguments: Any, **named: Any) -> None:
            await method(*arguments, **named)
            raise StoreUnreachableError("the connection was lost")

        return lost


async def test_a_lost_reply_is_not_reported_as_nothing_done() -> None:
    async with a_playground() as playground, memory_backend() as backend:
        losing = LosingReplies(backend.store)
        async with world_on(playground, replace(backend, store=losing)) as world:
            request = await world.asked(permissionId="mine")
            losing.lost = {"settle", "open"}
            lost = await world.respond("mine")
            lost_question = await world.ask(permissionId="another")
            losing.lost = set()
            shown = await world.call("GET", f"{world.branch}/requests/mine")
            again = await world.respond("mine")
            other = await world.respond("mine", approved=False)
            asked_again = await world.ask(permissionId="another")

    for reply in (lost, lost_question):
        assert reply.problem == (503, "StoreUnreachable")
        assert "nothing was done" not in reply.json["detail"]
        assert "not known whether it was done" in reply.json["detail"]
        assert "same id" in reply.json["detail"]
    assert request["permissionId"] == "mine"
    assert again.status == 200
    assert again.json == shown.json["response"]
    assert other.problem == (409, "AlreadyAnswered")
    assert asked_again.status == 200


@pytest.mark.parametrize(
    "content",
    [
        {"approved": False, "reason": "not today"},
        {"approved": True, "choice": "always_allow"},
        {"choiceKey": "edit", "inputs": {"arguments": '{"command": "terraform plan"}'}},
    ],
)
async def test_a_repeated_answer_gets_the_recorded_one(
    world: World, content: dict[str, Any]
) -> None:
    request = await world.asked()
    body = {"type": "PERMISSION_RESPONSE", "permissionId": request["permissionId"], **content}

    first, again = [
        await world.call("POST", f"{world.branch}/responses", body, token=REVIEWER)
        for _ in range(2)
    ]

    assert (first.status, again.status) == (200, 200), again.text
    assert again.json == first.json
    book = await world.backend.rules.all()
    stored = [kept for kept in book if kept.session_id == world.session_id]
    assert len(stored) == (content.get("choice") == "always_allow")


async def test_the_same_answer_of_somebody_else_is_too_late() -> None:
    toml = TOML.replace('"api:reviewer"', '"api:reviewer", "api:second"')
    toml += token_lines("second", SECOND)
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml) as world,
    ):
        request = await world.asked()
        first = await world.respond(request["permissionId"])
        second = await world.respond(request["permissionId"], token=SECOND)
        nobody = await world.respond(request["permissionId"], token=CI)

    assert first.status == 200
    assert second.problem == (409, "AlreadyAnswered")
    assert second.json["response"] == first.json
    assert nobody.problem == (403, "NotAnApprover")


async def test_of_the_same_answer_given_many_times_at_once_all_are_told_what_counts(
    world: World,
) -> None:
    request = await world.asked()

    replies = await asyncio.gather(*(world.respond(request["permissionId"]) for _ in range(8)))

    assert {reply.status for reply in replies} == {200}
    assert len({reply.text for reply in replies}) == 1
