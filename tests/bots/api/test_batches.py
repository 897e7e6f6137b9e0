"""Several requests in one call: on one card, each with its own id and answer; all or none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from support.api_world import API, ROUTE, TOKENS, TOML, Reply, World, a_body, world_on
from support.denials import always_deny
from support.playing import a_playground

from sayso import RunRef, ToolCall
from sayso.calls import new_id
from sayso.errors import StoreUnreachableError
from sayso.stores.memory import memory_backend
from sayso.testing import until
from sayso_bots.api.asking import MOST_TOGETHER

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def ask(world: World, *bodies: Any, headers: Mapping[str, str] | None = None) -> Reply:
    """The requests, in one call."""
    body = {"requests": list(bodies)}
    return await world.call("POST", f"{world.branch}/requests", body, headers=headers)


def named(*commands: str, **more: Any) -> list[dict[str, Any]]:
    return [a_body(arguments={"command": command}, **more) for command in commands]


def ids(reply: Reply) -> list[str]:
    return [one["request"]["permissionId"] for one in reply.json["requests"]]


async def open_here(world: World) -> list[str]:
    run = RunRef("deploy-bot", world.session_id)
    return [one.request.question_id for one in await world.backend.store.list_requests(run)]


async def test_requests_that_are_asked_together_stand_on_one_card_and_are_answered_each(
    world: World,
) -> None:
    reply = await ask(world, *named("ls one", "ls two", "ls three"))

    assert reply.status == 201
    assert [one["response"] for one in reply.json["requests"]] == [None] * 3
    assert len({one["request"]["run"]["runId"] for one in reply.json["requests"]}) == 1
    card = await world.card("ls one")
    assert all(command in card.all_text for command in ("ls two", "ls three"))
    await world.playground.slack.press(card, "Deny all", by="alice")
    for request_id in ids(reply):
        shown = await world.call("GET", f"{world.branch}/requests/{request_id}?wait=25s")
        assert shown.json["response"]["approved"] is False


async def test_each_of_a_batch_has_an_outcome_of_its_own(world: World) -> None:
    first, second, third = ids(await ask(world, *named("a", "b", "c")))

    await world.respond(first)
    await world.respond(second, approved=False, reason="no")
    await world.call("DELETE", f"{world.branch}/requests/{third}")

    shown = [
        (await world.call("GET", f"{world.branch}/requests/{one}")).json["response"]
        for one in (first, second, third)
    ]
    assert [one.get("approved") for one in shown] == [True, False, None]
    assert shown[2]["type"] == "REQUEST_CANCELLED"


async def test_whatever_is_wrong_with_one_of_a_batch_is_pointed_at_and_none_is_asked(
    world: World,
) -> None:
    good = a_body()
    reply = await ask(
        world,
        good,
        a_body(functionName=""),
        {"type": "NONSENSE"},
        a_body(arguments=7),
        a_body(requestedBy="nobody"),
        a_body(timeout="soon"),
        a_body(argumentsDigest="jcs-sha256:00"),
    )

    assert set(reply.pointers) <= {
        *("/requests/1/functionName", "/requests/2/type", "/requests/3/arguments"),
        *("/requests/4/requestedBy", "/requests/5/timeout", "/requests/6/argumentsDigest"),
    }
    assert {"/requests/1/functionName", "/requests/2/type", "/requests/5/timeout"} <= set(
        reply.pointers
    )
    later = await ask(world, good, a_body(arguments=7), a_body(requestedBy="nobody"))
    assert set(later.pointers) == {"/requests/1/arguments", "/requests/2/requestedBy"}
    assert await open_here(world) == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"requests": []}, "/requests"),
        ({"requests": None}, "/requests"),
        ({"requests": {"0": {}}}, "/requests"),
        ({"requests": [a_body()] * (MOST_TOGETHER + 1)}, "/requests"),
        ({"requests": [a_body(), None]}, "/requests/1"),
        ({"requests": [[a_body()]]}, "/requests/0"),
        ({"requests": [{"requests": [a_body()]}]}, "/requests/0/type"),
        ({"requests": [a_body()], "timeout": "1h"}, "/timeout"),
        (
            {"requests": [a_body(run={"runId": "r"}), a_body(run={"runId": "s"})]},
            "/requests/1/run/runId",
        ),
        (
            {"requests": [a_body(permissionId="x-1"), a_body(permissionId="x-1")]},
            "/requests/1/permissionId",
        ),
    ],
)
async def test_what_cannot_be_a_batch_is_refused(world: World, body: Any, pointer: str) -> None:
    reply = await world.call("POST", f"{world.branch}/requests", body)

    assert reply.pointers == [pointer]
    assert await open_here(world) == []


async def test_a_batch_that_is_sent_again_is_told_again(world: World) -> None:
    bodies = [{**one, "permissionId": new_id()} for one in named("a", "b")]

    first, again = await ask(world, *bodies), await ask(world, *bodies)
    other = await ask(world, a_body(), {**bodies[1], "arguments": {"command": "other"}})

    assert (first.status, again.status) == (201, 200)
    assert ids(first) == ids(again) == [one["permissionId"] for one in bodies]
    assert other.problem == (409, "DuplicateRequest")
    assert other.json["errors"] == [{"pointer": "/requests/1/permissionId", "detail": "is taken"}]
    assert len(await open_here(world)) == 2


async def test_under_a_key_a_batch_is_asked_once_and_each_of_it_has_a_key(world: World) -> None:
    headers = {"Idempotency-Key": "turn-7"}

    replies = await asyncio.gather(
        *(ask(world, *named("a", "b"), headers=headers) for _ in range(5))
    )
    other = await ask(world, *named("a", "other"), headers=headers)

    assert len({tuple(ids(reply)) for reply in replies}) == 1
    assert sorted(await open_here(world)) == sorted(ids(replies[0]))
    assert other.problem == (422, "IdempotencyKeyReused")
    assert other.json["errors"][0]["pointer"] == "/requests/1"
    run = RunRef("deploy-bot", world.session_id)
    found = [await world.backend.store.get_by_key(run, f"turn-7/{number}") for number in (1, 2)]
    assert [one.request.question_id for one in found if one] == ids(replies[0])


async def test_the_key_of_a_batch_leaves_room_for_the_place(world: World) -> None:
    longest = await ask(world, *named("a"), headers={"Idempotency-Key": "k" * 1022})
    longer = await ask(world, *named("a"), headers={"Idempotency-Key": "k" * 1023})

    assert longest.status == 201
    assert longer.problem == (400, "InvalidIdempotencyKey")


async def test_what_was_left_of_a_batch_joins_the_card_of_what_was_asked(world: World) -> None:
    headers = {"Idempotency-Key": "turn-8"}
    first = await ask(world, *named("a"), headers=headers)

    both = await ask(world, *named("a", "b"), headers=headers)

    assert both.status == 201
    assert ids(both)[0] == ids(first)[0]
    assert len({one["request"]["run"]["runId"] for one in both.json["requests"]}) == 1


async def test_the_policy_and_what_is_remembered_count_for_each() -> None:
    policy = '[[policy]]\nallow = [{ tool = "read" }]\ndeny = [{ tool = "format_disk" }]\n'
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, TOML + policy) as world,
    ):
        never = ToolCall("run_command", {"command": "never"})
        await always_deny(backend, never, RunRef("deploy-bot", world.session_id))
        reply = await ask(
            world,
            a_body(functionName="read"),
            a_body(functionName="format_disk"),
            *named("never", "ask"),
        )
        left = await open_here(world)
        alone = await ask(world, a_body(functionName="read"))

    said = [one["response"] for one in reply.json["requests"]]
    assert reply.status == 201
    assert [one and one["approved"] for one in said] == [True, False, False, None]
    assert left == ids(reply)[3:]
    assert alone.status == 200


async def test_a_batch_counts_as_many_calls_as_it_has_requests() -> None:
    api = API.replace("per_second = 1000", "per_second = 2")
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, f"{ROUTE}{api}{TOKENS}") as world,
    ):
        first = await ask(world, *named(*"abcdefgh"))
        second = await ask(world, *named("a"))

    assert first.status == 201
    assert second.problem == (429, "TooManyCalls")
    assert int(second.headers["Retry-After"]) >= 2


async def test_where_a_later_one_cannot_be_asked_the_earlier_ones_are_withdrawn() -> None:
    """Somebody takes the id of the second while the first is opened."""
    async with a_playground() as playground, memory_backend() as backend:
        taken = a_body(permissionId="taken", arguments={"command": "theirs"})
        store = Between(backend.store)
        async with world_on(playground, replace(backend, store=store)) as world:
            store.then = lambda: world.call("POST", f"{world.branch}/requests", taken)
            mine = [a_body(permissionId="first"), a_body(permissionId="taken")]

            reply = await ask(world, *mine)

            assert reply.problem == (409, "DuplicateRequest")
            assert reply.json["errors"][0]["pointer"] == "/requests/1/permissionId"
            shown = await world.call("GET", f"{world.branch}/requests/first")
            assert shown.json["response"]["type"] == "REQUEST_CANCELLED"
            assert await open_here(world) == ["taken"]


async def test_what_was_asked_before_the_store_went_away_is_withdrawn_when_it_is_back() -> None:
    async with a_playground() as playground, memory_backend() as backend:
        store = GoingAway(backend.store)
        async with world_on(playground, replace(backend, store=store)) as world:
            reply = await ask(world, *named("a", "b", "c"))
            assert reply.problem == (503, "StoreUnreachable")
            assert len(await open_here(world)) == 1
            store.is_back = True

            async def withdrawn() -> bool:
                return await open_here(world) == []

            await until(withdrawn)
            assert store.opened == 1


async def test_a_batch_with_ids_that_lost_its_store_is_completed_when_it_is_sent_again() -> None:
    async with a_playground() as playground, memory_backend() as backend:
        store = GoingAway(backend.store)
        async with world_on(playground, replace(backend, store=store)) as world:
            mine = [{**one, "permissionId": new_id()} for one in named("a", "b", "c")]
            reply = await ask(world, *mine)
            assert reply.problem == (503, "StoreUnreachable")
            store.is_back = True
            again = await ask(world, *mine)
            left = await open_here(world)

    assert store.endings == 0
    assert again.status == 201
    assert sorted(left) == sorted(ids(again)) == sorted(one["permissionId"] for one in mine)
    assert len({one["request"]["run"]["runId"] for one in again.json["requests"]}) == 1


class GoingAway:
    """A store that goes away when it has opened its first request."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.opened = 0
        self.endings = 0
        self.is_back = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def open(self, *args: Any, **how: Any) -> Any:
        self._come()
        opened = await self._inner.open(*args, **how)
        self.opened += 1
        return opened

    async def settle(self, *args: Any, **how: Any) -> Any:
        self.endings += 1
        self._come()
        return await self._inner.settle(*args, **how)

    def _come(self) -> None:
        if self.opened and not self.is_back:
            raise StoreUnreachableError("the store does not answer")


class Between:
    """A store that lets something happen after it opened its first request."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.then: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def open(self, *args: Any, **how: Any) -> Any:
        opened = await self._inner.open(*args, **how)
        then, self.then = self.then, None
        if then is not None:
            await then()
        return opened
