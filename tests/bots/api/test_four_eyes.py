"""Four eyes over HTTP: nobody approves what they asked for, with whichever token or account."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.api_world import API, CI, REVIEWER, World, token_lines, world_on
from support.playing import a_playground

from sayso.stores.memory import memory_backend
from sayso.testing.builders import PATIENCE_SECONDS

TOKENS = "\n".join(
    (
        token_lines("ci", CI, more="answers_own = true"),
        token_lines("reviewer", REVIEWER),
    )
)
PEOPLE = """
[people.alice]
slack = "U0ALICE"
api = "reviewer"
"""
ROUTE = """
[[route]]
to = ["slack:C0OPS"]
approvers = ["alice", "api:ci", "slack:U0BOB"]
"""


@asynccontextmanager
async def a_world(more: str = "") -> AsyncIterator[World]:
    toml = f"{PEOPLE}{ROUTE}{more}\n{API}{TOKENS}"
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml) as world,
    ):
        yield world


async def audited(world: World) -> list[tuple[str, str, str, str]]:
    async def found() -> list[tuple[str, str, str, str]]:
        entries = await world.backend.audit.read(50)
        return [
            (one.refusal, one.by, one.place, one.choice)
            for one in entries
            if one.kind == "press_refused"
        ]

    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (entries := await found()):
            await asyncio.sleep(0)
    return entries


async def test_a_request_says_who_wants_it_and_whose_token_it_came_with() -> None:
    async with a_world() as world:
        request = await world.asked(requestedBy="slack:U0ALICE")
        plain = await world.asked()
        card = await world.card("slack:U0ALICE")

    assert (request["requestedBy"], request["filedBy"]) == ("slack:U0ALICE", "api:ci")
    assert (plain["requestedBy"], plain["filedBy"]) == ("api:ci", "api:ci")
    assert "api:ci" in card.all_text


async def test_nobody_approves_over_http_what_they_asked_for_with_another_account() -> None:
    async with a_world() as world:
        request = await world.asked(requestedBy="slack:U0ALICE")

        refused = await world.respond(request["permissionId"], token=REVIEWER)
        entries = await audited(world)
        denied = await world.respond(request["permissionId"], token=REVIEWER, approved=False)

    assert refused.problem == (403, "OwnRequest")
    assert "self_approval" in refused.json["detail"]
    assert entries == [("own_request", "api:reviewer", "api", "")]
    assert denied.status == 200


@pytest.mark.parametrize("wanted", ["slack:U0MALLORY", "api:ci"])
async def test_a_token_does_not_approve_what_it_asked_for_whoever_it_says_wants_it(
    wanted: str,
) -> None:
    async with a_world() as world:
        request = await world.asked(requestedBy=wanted)

        refused = await world.respond(request["permissionId"], token=CI)
        answered = await world.respond(request["permissionId"], token=REVIEWER)

    assert refused.problem == (403, "OwnRequest")
    assert answered.status == 200


async def test_a_route_can_let_people_and_tokens_approve_what_they_asked_for() -> None:
    async with a_world("self_approval = true") as world:
        one = await world.asked(requestedBy="slack:U0ALICE")
        two = await world.asked()

        by_person = await world.respond(one["permissionId"], token=REVIEWER)
        by_token = await world.respond(two["permissionId"], token=CI)

    assert (by_person.status, by_token.status) == (200, 200)


async def test_a_press_in_chat_approves_nothing_that_this_person_asked_for_over_http() -> None:
    async with a_world() as world:
        request = await world.asked(requestedBy="slack:U0ALICE")
        card = await world.card("terraform")

        await world.playground.slack.press(card, "Allow", by="alice")
        told = await world.playground.slack.ephemeral_where("alice")
        record = await world.backend.store.get(request["permissionId"])

    assert told.text.startswith("You asked for this")
    assert record is not None
    assert record.ending is None


async def test_repeating_a_request_finds_it_again_whoever_wants_it() -> None:
    async with a_world() as world:
        body = {"permissionId": "mine", "requestedBy": "slack:U0ALICE", "callId": "c-1"}
        first = await world.ask(**body)
        again = await world.ask(**body)
        other = await world.ask(**{**body, "requestedBy": "slack:U0BOB"})

    assert (first.status, again.status) == (201, 200)
    assert other.problem == (409, "DuplicateRequest")


@pytest.mark.parametrize(
    ("token", "refusal"), [(CI, "own_request"), (REVIEWER, "late")], ids=["own", "late"]
)
async def test_refused_answers_are_audited_with_their_kind(token: str, refusal: str) -> None:
    async with a_world() as world:
        request = await world.asked()
        if refusal == "late":
            await world.respond(request["permissionId"], token=REVIEWER)
        await world.respond(
            request["permissionId"], token=token, approved=refusal == "own_request", choice="ask"
        )
        entries = await audited(world)

    assert [(kind, choice) for kind, _, _, choice in entries] == [(refusal, "ask")]
