"""Commands whose replies are lost on the way: what is repeated counts once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib.resources import files

import pytest
from redis.asyncio import Redis
from support.wire import Wire, wired

from sayso.chats.budgets import Budget, Rate
from sayso.errors import SubscriptionLostError
from sayso.stores.backend import Backend
from sayso.stores.branch_log import BEGINNING
from sayso.stores.redis import redis_backend
from sayso.stores.redis.script import Script
from sayso.stores.redis.url import read_url
from sayso.stores.session_state import SessionState
from sayso.stores.topics import branch_topic
from sayso.testing import a_copy, a_request, a_response, a_rule, soon


@pytest.fixture
async def through(redis_url: str, store_url: str) -> AsyncIterator[tuple[Wire, str]]:
    url = read_url(redis_url)
    if url.kind != "server" or not url.hosts:
        pytest.skip("needs a server on TCP")
    async with wired(store_url) as opened:
        yield opened


@pytest.fixture
def wire(through: tuple[Wire, str]) -> Wire:
    return through[0]


@pytest.fixture
async def backend(through: tuple[Wire, str], redis_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(through[1]) as opened, Redis.from_url(redis_url) as server:
        # What is lost is then the reply of a script that ran, not that it has to be sent first.
        for path in (files("sayso.stores.redis") / "scripts").iterdir():
            await server.script_load(Script(path.name.removesuffix(".lua")).text)
        await opened.outbox.count_workers()
        yield opened


async def test_the_first_to_settle_stays_the_first(backend: Backend, wire: Wire) -> None:
    request, rule = a_request(), a_rule()
    await backend.store.open(request, seconds=30, inbox="mine", book=None)
    async with backend.bus.subscribe("inbox:mine") as rings:
        wire.lose_reply()

        settled = await backend.store.settle(
            request.question_id, a_response(request), remember=rule
        )
        later = await backend.store.settle(request.question_id, a_response(request))

        assert await soon(rings) == settled.ending
    assert settled.first
    assert settled.heard == 1
    assert not later.first
    assert (await backend.rules.book(request.run)).remembered == (rule,)


async def test_an_approval_that_is_repeated_over_a_foreseen_denial_rings_nobody_with_it(
    backend: Backend, wire: Wire
) -> None:
    request = a_request()
    denial = a_response(request, approved=False)
    await backend.store.open(request, seconds=30, inbox="mine", book=None)
    await backend.store.settle_later(request.question_id, denial, seconds=20)
    async with backend.bus.rings("mine") as rings:
        wire.lose_reply()

        settled = await backend.store.settle(request.question_id, a_response(request))
        await backend.store.open(request, seconds=30, inbox="mine", book=None)

        heard = [(await soon(rings)).ending for _ in range(2)]
    assert (settled.ending, settled.first) == (denial, False)
    assert heard == [denial, denial]


async def test_a_request_is_opened_once(backend: Backend, wire: Wire) -> None:
    wire.lose_reply()

    await backend.store.open(a_request("q-1"), seconds=30, inbox="", book="")
    await backend.store.open(a_request("q-2"), seconds=30, inbox="", book="")

    async with backend.outbox.jobs("desk") as jobs:
        assert [(await soon(jobs)).question_id for _ in range(2)] == ["q-1", "q-2"]


async def test_a_job_whose_reply_was_lost_is_taken_at_once(backend: Backend, wire: Wire) -> None:
    async with backend.outbox.jobs("desk") as jobs:
        taking = asyncio.ensure_future(anext(jobs))
        wire.lose_reply(to="XREADGROUP")

        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book="")

        assert (await asyncio.wait_for(taking, 10)).question_id == "q-1"
    assert wire.lost == 1


async def test_a_moment_is_reserved_once(backend: Backend, wire: Wire) -> None:
    budget = [Budget("ops", Rate(1, 10))]
    wire.lose_reply()

    first = await backend.key_value.reserve_rate(budget)
    second = await backend.key_value.reserve_rate(budget)

    assert first == 0
    assert 9 < second <= 10


async def test_a_repeated_look_for_a_handle_is_not_a_replay(backend: Backend, wire: Wire) -> None:
    request = a_request()
    copy = a_copy(request.question_id)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.copies.issue(copy)
    wire.lose_reply()

    found = await backend.copies.find(copy.handle, delivery="slack:1")

    assert found is not None
    assert found.copy == copy


async def test_what_was_published_is_not_published_again(
    backend: Backend, wire: Wire, store_url: str
) -> None:
    first, second = a_request("first"), a_request("second")
    async with redis_backend(store_url) as other, other.bus.subscribe("runs:1") as events:
        wire.lose_reply(to="PUBLISH")

        with pytest.raises(SubscriptionLostError, match="may not have been told"):
            await backend.bus.publish("runs:1", first)
        await backend.bus.publish("runs:1", second)

        assert [await soon(events) for _ in range(2)] == [first, second]


async def test_what_may_be_had_once_was_had_by_the_caller_who_lost_the_reply(
    backend: Backend, wire: Wire
) -> None:
    run, state = a_request().run, SessionState(backend.key_value)
    wire.lose_reply(to=Script("compare_and_set").sha)

    assert await state.spend(run, "key")
    assert wire.lost == 1
    assert not await state.spend(run, "key")


async def test_a_lease_is_had_by_the_owner_who_lost_the_reply(backend: Backend, wire: Wire) -> None:
    wire.lose_reply()

    assert await backend.key_value.acquire_lease("poll", "a", seconds=30)
    assert not await backend.key_value.acquire_lease("poll", "b", seconds=30)


async def test_a_change_of_the_sessions_state_counts_once(backend: Backend, wire: Wire) -> None:
    run, state = a_request().run, SessionState(backend.key_value)
    steps = [(None, "1"), ("1", "2"), ("2", None), (None, "3")]
    changed = []
    for before, after in steps:
        wire.lose_reply(to=Script("compare_and_set").sha)
        changed.append(await state.swap(run, "spent", before, after))

    assert changed == [True] * len(steps)
    assert wire.lost == len(steps)
    assert await state.recall(run, "spent") == "3"
    assert not await state.swap(run, "spent", "2", "9")


async def test_observers_are_told_once(backend: Backend, wire: Wire) -> None:
    request, last = a_request(), a_request()
    response = a_response(request)
    async with backend.bus.subscribe(branch_topic(request.run)) as events:
        wire.lose_reply()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        wire.lose_reply()
        await backend.store.settle(request.question_id, response)
        await backend.store.open(last, seconds=30, inbox="", book=None)

        assert [await soon(events) for _ in range(3)] == [request, response, last]


async def test_a_use_and_a_revocation_count_once(backend: Backend, wire: Wire) -> None:
    request, rule = a_request(), a_rule()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle(request.question_id, a_response(request), remember=rule)

    wire.lose_reply()
    used = await backend.rules.use(request.run, rule.rule_id)
    [kept] = await backend.rules.all()
    wire.lose_reply()
    revoked = await backend.rules.revoke(rule.rule_id, by="cli:me")

    assert (used, revoked, kept.remembered.uses) == (True, True, 1)
    kinds = [entry.kind for entry in await backend.audit.read(9)]
    assert kinds == ["asked", "approved", "rule_stored", "rule_used", "rule_revoked"]


async def test_presses_do_not_wait_behind_pages_of_a_log(wire: Wire, backend: Backend) -> None:
    large = a_request("q-large").model_copy(update={"description": "x" * 100_000})
    await backend.store.open(large, seconds=30, inbox="", book=None)
    await backend.log.append(large.run, "q-large", "request", large)
    small = a_request("q-small")
    await backend.store.open(small, seconds=30, inbox="", book=None)
    wire.lets_large_through.clear()

    reading = asyncio.create_task(backend.log.after(large.run, BEGINNING, count=9))
    await wire.holds.wait()
    settled = await backend.store.settle("q-small", a_response(small))
    wire.lets_large_through.set()

    assert settled.first
    assert len(await reading) == 1
