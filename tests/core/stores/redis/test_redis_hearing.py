"""Whoever listens hears, or knows within seconds that it does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from redis.asyncio import Redis
from support.valkey_server import Valkey
from support.wire import Wire, wired

from sayso import Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.calls import new_id
from sayso.errors import SubscriptionLostError
from sayso.feed.feed import BranchFeed
from sayso.stores.redis import redis_backend
from sayso.stores.redis.bus import RedisBus
from sayso.stores.redis.connection import Client
from sayso.stores.redis.url import read_url
from sayso.stores.topics import LOG_TOPIC
from sayso.testing import a_request, a_response, soon, until

RUN = RunRef("deploy-bot", "s-1")
_BURST = 0.1
_SILENCE = 0.1


@pytest.fixture(scope="module")
def server() -> Iterator[Valkey]:
    """A server of these tests alone: all who listen on it are theirs."""
    valkey = Valkey()
    valkey.start()
    yield valkey
    valkey.close()


@pytest.fixture
def store_url(server: Valkey) -> str:
    return f"{server.url}?namespace=test-{new_id()}"


@pytest.fixture
async def admin(store_url: str) -> AsyncIterator[Any]:
    async with Redis.from_url(store_url.partition("?")[0]) as client:
        yield client


@pytest.fixture
async def spoilt(store_url: str) -> AsyncIterator[tuple[Wire, str]]:
    async with wired(store_url) as opened:
        yield opened


async def test_all_of_eight_hear_though_everything_comes_in_bursts(
    store_url: str, admin: Any
) -> None:
    first, second = a_request("first", run=RUN), a_request("second", run=RUN)

    async def eight_are_subscribed() -> bool:
        return len(await admin.client_list(_type="pubsub")) == 8

    async def heard(url: str) -> list[object]:
        async with redis_backend(url) as backend:
            gate = Gate(backend, GateOptions(RUN))
            async with gate.events() as events:
                return [await soon(events), await soon(events)]

    async with AsyncExitStack() as stack:
        backend = await stack.enter_async_context(redis_backend(store_url))
        _, url = await stack.enter_async_context(wired(store_url, burst=_BURST))
        tasks = [asyncio.create_task(heard(url)) for _ in range(8)]
        await until(eight_are_subscribed)
        # The subscriptions are known to the server, and not yet to those who listen.
        await backend.store.open(first, seconds=60, inbox="", book=None)
        await asyncio.sleep(2 * _BURST)
        await backend.store.open(second, seconds=60, inbox="", book=None)

        assert await asyncio.gather(*tasks) == 8 * [[first, second]]


async def test_an_answer_whose_ring_is_swallowed_is_found_within_seconds(
    spoilt: tuple[Wire, str], store_url: str
) -> None:
    wire, url = spoilt
    async with redis_backend(url, silence=_SILENCE) as agents, redis_backend(store_url) as bots:
        check = asyncio.create_task(Gate(agents, GateOptions(RUN)).check(ToolCall("tool")))

        async def it_is_open() -> bool:
            return len(await bots.store.list_requests()) == 1

        await until(it_is_open)
        wire.swallows = True
        [record] = await bots.store.list_requests()
        answer = a_response(record.request)  # type: ignore[arg-type]  # it is a permission
        settled = await bots.store.settle(record.request.question_id, answer)

        async with asyncio.timeout(5):
            verdict = await check

    assert settled.heard == 1
    assert verdict.approved


async def test_observers_are_told_that_they_went_deaf(spoilt: tuple[Wire, str]) -> None:
    wire, url = spoilt
    async with (
        redis_backend(f"{url}&socket_timeout=0.2", silence=_SILENCE) as backend,
        Gate(backend, GateOptions(RUN)).events() as events,
    ):
        wire.swallows = True

        with pytest.raises(SubscriptionLostError, match="nothing that is published arrives"):
            await soon(events)


async def test_the_bell_of_the_hosted_api_that_went_deaf_is_hung_up_again(
    spoilt: tuple[Wire, str], store_url: str
) -> None:
    wire, url = spoilt
    request = a_request(run=RUN)
    async with (
        redis_backend(f"{url}&socket_timeout=0.2", silence=_SILENCE) as deaf,
        redis_backend(store_url) as bots,
        BranchFeed(deaf.log, deaf.bus) as feed,
        feed.follow(RUN, None) as follower,
    ):
        wire.swallows = True
        await bots.store.open(request, seconds=30, inbox="", book=None)
        await bots.log.append(RUN, request.question_id, "request", request)

        async with asyncio.timeout(5):
            event = await follower.next()

    assert event.type == request.type


async def test_one_proof_serves_all_who_listen_on_a_topic(store_url: str, admin: Any) -> None:
    channel = read_url(store_url).keys.channel(LOG_TOPIC)
    async with AsyncExitStack() as stack:
        other = await stack.enter_async_context(admin.pubsub())
        await other.subscribe(channel)
        client = Client(read_url(store_url))
        stack.push_async_callback(client.aclose)
        bus = RedisBus(client, silence=0.2)
        tasks = [
            asyncio.ensure_future(anext(await stack.enter_async_context(bus.subscribe(LOG_TOPIC))))
            for _ in range(5)
        ]
        proofs = 0
        try:
            async with asyncio.timeout(1.2):
                async for message in other.listen():
                    proofs += message["type"] == "message"
        except TimeoutError:
            pass
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Six or so, not five times as many.
    assert 1 < proofs < 15
