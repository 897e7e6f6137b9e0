"""The hosted API: who may come in, how often, from where; and what of it is never logged."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
from support.api_world import (
    CI,
    ORIGIN,
    OTHER,
    REVIEWER,
    ROUTE,
    TOKENS,
    World,
    token_lines,
    world_on,
)
from support.playing import a_playground

from sayso.stores.memory import memory_backend
from sayso_bots.api.door import Limits
from sayso_bots.config.api_tokens import ApiToken, find_token, hash_token, new_token

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_without_a_token_in_the_settings_there_is_no_api() -> None:
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(
            playground, backend, '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["slack:U0ALICE"]\n'
        ) as world,
    ):
        replies = [await world.ask(), await world.call("GET", "/openapi.json")]

    assert [reply.status for reply in replies] == [404, 404]


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {CI}x"},
        {"Authorization": f"Bearer {CI[:-1]}"},
        {"Authorization": f"Basic {CI}"},
        {"Authorization": CI},
        {"Authorization": f"Bearer {hash_token(CI)}"},
    ],
)
async def test_who_presents_no_known_token_is_asked_for_one(
    world: World, sent: dict[str, str]
) -> None:
    replies = [
        await world.call("POST", f"{world.branch}/requests", {}, token=None, headers=sent),
        await world.call("POST", f"{world.branch}/responses", {}, token=None, headers=sent),
        await world.call("GET", f"{world.branch}/events", token=None, headers=sent),
        await world.call("GET", f"{world.branch}/requests/x", token=None, headers=sent),
        await world.call("POST", f"{world.branch}/events/tickets", token=None, headers=sent),
    ]

    for reply in replies:
        if reply.status != 429:  # this test alone makes many attempts
            assert reply.problem == (401, "Unauthorized")
            assert reply.headers["WWW-Authenticate"].startswith('Bearer realm="sayso"')


async def test_a_token_for_other_agents_learns_nothing(world: World) -> None:
    request = await world.asked()

    replies = [
        await world.ask(token=OTHER),
        await world.respond(request["permissionId"], token=OTHER),
        await world.respond("no-such-id", token=OTHER),
        await world.call("GET", f"{world.branch}/requests/x", token=OTHER),
        await world.call("GET", f"{world.branch}/events", token=OTHER),
        await world.call("GET", "/agents/nobody/sessions/x/branches/y/events", token=OTHER),
        await world.call("POST", f"{world.branch}/events/tickets", token=OTHER),
    ]

    assert {reply.problem for reply in replies} == {(403, "OtherAgent")}
    assert len({reply.text for reply in replies}) == 1


async def test_several_tokens_of_one_name_are_one_caller() -> None:
    new = f"sayso_{'new':x<43}"
    toml = ROUTE + TOKENS + token_lines("ci", new, '["deploy-*"]')
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml) as world,
    ):
        first = await world.ask(permissionId="one")
        again = await world.ask(permissionId="one", token=new)

    assert (first.status, again.status) == (201, 200)
    assert again.json["request"]["requestedBy"] == "api:ci"


async def test_a_caller_that_calls_too_often_is_told_when_to_come_back() -> None:
    toml = f"{ROUTE}[api]\nper_second = 1\n{TOKENS}"
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml) as world,
    ):
        mine = [await world.call("GET", f"{world.branch}/requests/x") for _ in range(4)]
        other = await world.call("GET", f"{world.branch}/requests/x", token=REVIEWER)

    assert [reply.status for reply in mine] == [404, 404, 429, 429]
    assert mine[3].problem == (429, "TooManyCalls")
    assert 1 <= int(mine[3].headers["Retry-After"]) <= 2
    assert other.status == 404


async def test_attempts_without_a_token_are_limited_and_lock_nobody_out() -> None:
    toml = ROUTE + TOKENS
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml) as world,
    ):
        wrong = [await world.ask(token=f"{CI}{n}") for n in range(30)]
        right = await world.ask()

    assert {reply.status for reply in wrong} == {401, 429}
    assert wrong[-1].problem == (429, "TooManyCalls")
    assert right.status == 201


async def test_a_ticket_reads_its_branch_and_nothing_else(world: World) -> None:
    made = await world.call("POST", f"{world.branch}/events/tickets")
    ticket = made.json["ticket"]
    async with await world.follow(token="", ticket=ticket) as stream:
        request = await world.asked()
        assert (await stream.next()).data == request

    elsewhere = await world.call("GET", f"{world.branch}2/events?ticket={ticket}", token=None)
    asking = await world.call("POST", f"{world.branch}/requests?ticket={ticket}", {}, token=None)
    strange = await world.call("GET", f"{world.branch}/events?ticket=x{ticket}", token=None)

    assert made.status == 201
    assert made.json["expiresInSeconds"] == 600
    assert elsewhere.problem == (403, "OtherBranch")
    assert {asking.status, strange.status} <= {401, 429}


async def test_tickets_count_as_calls_of_their_token() -> None:
    toml = f"{ROUTE}[api]\nper_second = 1\n{TOKENS}"
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml) as world,
    ):
        ticket = (await world.call("POST", f"{world.branch}/events/tickets")).json["ticket"]
        address = f"{world.branch}/events?ticket={ticket}&lastEventId=x"
        replies = [await world.call("GET", address, token=None) for _ in range(3)]

    assert [reply.status for reply in replies] == [400, 429, 429]


class CountedReads:
    """Counts how often it is read."""

    def __init__(self, key_value: Any) -> None:
        self._key_value = key_value
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._key_value, name)

    async def get(self, key: str) -> str | None:
        self.reads += 1
        text: str | None = await self._key_value.get(key)
        return text


async def test_what_is_no_ticket_or_comes_too_often_is_not_looked_up() -> None:
    async with a_playground() as playground, memory_backend() as backend:
        reads = CountedReads(backend.key_value)
        async with world_on(playground, replace(backend, key_value=reads)) as world:
            odd = [
                await world.call("GET", f"{world.branch}/events?ticket={ticket}", token=None)
                for ticket in ("", "x", "y" * 42, "%C3%A9" * 43, "z" * 44)
            ]
            looked_up = reads.reads
            strange = [
                await world.call("GET", f"{world.branch}/events?ticket={'y' * 43}", token=None)
                for _ in range(120)
            ]

    assert {reply.problem for reply in odd} == {(401, "Unauthorized")}
    assert looked_up == 0
    assert strange[-1].problem == (429, "TooManyCalls")
    assert 40 <= reads.reads < 100


async def test_a_ticket_ends_with_what_its_token_may() -> None:
    async with a_playground() as playground, memory_backend() as backend:
        async with world_on(playground, backend) as world:
            ticket = (await world.call("POST", f"{world.branch}/events/tickets")).json["ticket"]
            address = f"{world.branch}/events?ticket={ticket}&lastEventId=x"
            before = await world.call("GET", address, token=None)
        without = ROUTE + token_lines("ci", CI, '["other"]') + token_lines("reviewer", REVIEWER)
        async with world_on(playground, backend, without) as world:
            after = await world.call("GET", address, token=None)

    assert before.problem == (400, "InvalidEventId")
    assert after.problem == (401, "Unauthorized")


async def test_pages_of_the_configured_origins_may_call_and_no_others(world: World) -> None:
    preflight = {"Access-Control-Request-Method": "POST"}
    good = await world.call(
        "OPTIONS", f"{world.branch}/requests", token=None, headers={"Origin": ORIGIN, **preflight}
    )
    bad = await world.call(
        "OPTIONS",
        f"{world.branch}/requests",
        token=None,
        headers={"Origin": "https://mallory.example", **preflight},
    )
    called = await world.call("GET", f"{world.branch}/requests/x", headers={"Origin": ORIGIN})
    other = await world.call(
        "GET", f"{world.branch}/requests/x", headers={"Origin": f"{ORIGIN}.mallory.example"}
    )

    assert good.status == 204
    assert good.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "Authorization" in good.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in good.headers
    assert bad.status == 405
    assert called.headers["Access-Control-Allow-Origin"] == ORIGIN
    for reply in (bad, other):
        assert "Access-Control-Allow-Origin" not in reply.headers


async def test_tokens_and_tickets_are_in_no_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        ticket = (await world.call("POST", f"{world.branch}/events/tickets")).json["ticket"]
        wrong = "sayso_wrong" + "x" * 40
        replies = [
            await world.ask(token=wrong),
            await world.call("GET", f"{world.branch}/events?ticket={ticket}&lastEventId=x"),
            await world.call("POST", f"{world.branch}/requests", data=b"{"),
        ]

    for secret in (CI, wrong, ticket):
        assert secret not in caplog.text
        assert all(secret not in reply.text for reply in replies)


async def test_a_token_is_known_by_its_hash_alone() -> None:
    token = new_token()
    known = ApiToken("ci", hash_token(token), ("*",))

    assert find_token((known,), token) is known
    assert find_token((known,), known.sha256) is None
    assert find_token((known,), token.upper()) is None
    assert len({new_token() for _ in range(100)}) == 100
    assert token not in repr(known)
    assert known.sha256 not in repr(known)


async def test_a_short_token_is_refused_even_if_its_hash_is_in_the_settings() -> None:
    weak = ApiToken("ci", hash_token("hunter2"), ("*",))

    assert find_token((weak,), "hunter2") is None


async def test_a_bucket_fills_again_at_its_rate() -> None:
    now = 0.0
    limits = Limits(2, clock=lambda: now)

    first = [limits.wait("a") for _ in range(5)]
    now = 0.5
    later = [limits.wait("a") for _ in range(2)]
    others = [limits.wait("b") for _ in range(5)]

    assert first == [0, 0, 0, 0, 1]
    assert later == [0, 1]
    assert others == [0, 0, 0, 0, 1]


async def test_callers_that_are_long_gone_take_no_memory() -> None:
    limits = Limits(1)
    for number in range(11_000):
        limits.wait(f"caller-{number}")

    assert len(limits._buckets) == 10_000
