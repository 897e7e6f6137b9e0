"""What happens to waiting runs, answers and subscriptions when Redis breaks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from redis.asyncio import Redis
from support.ports import free_port
from support.valkey_server import Valkey

from sayso import Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.agent.verdict import CheckResult
from sayso.errors import StoreUnreachableError, SubscriptionLostError
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend
from sayso.stores.redis.bus import RedisBus
from sayso.stores.redis.connection import Client
from sayso.stores.redis.keys import Keys
from sayso.stores.redis.url import read_url
from sayso.testing import a_request, a_response, soon, until
from sayso.testing.builders import PATIENCE_SECONDS

SECRET = "s3cret-p4ssword"


@pytest.fixture
def server() -> Iterator[Valkey]:
    """A server of this test alone, to be killed; it keeps every write."""
    valkey = Valkey(password=SECRET, appendonly="yes", appendfsync="always")
    valkey.start()
    try:
        yield valkey
    finally:
        valkey.close()


@pytest.fixture
async def admin(server: Valkey) -> AsyncIterator[Any]:
    async with Redis.from_url(server.url) as client:
        yield client


async def _approve(backend: Backend, question_id: str) -> int:
    record = await backend.store.get(question_id)
    assert record is not None
    answer = a_response(record.request)  # type: ignore[arg-type]  # it is a permission
    return (await backend.store.settle(question_id, answer)).heard


def _checks(backend: Backend, count: int) -> list[asyncio.Task[CheckResult]]:
    gate = Gate(backend, GateOptions(RunRef("bot", "s-1")))
    return [asyncio.create_task(gate.check(ToolCall("tool", {"n": n}))) for n in range(count)]


async def _open_ids(backend: Backend, count: int) -> list[str]:
    async def all_are_open() -> bool:
        return len(await backend.store.list_requests()) == count

    await until(all_are_open)
    return [record.request.question_id for record in await backend.store.list_requests()]


async def test_a_dropped_subscription_is_noticed(server: Valkey, admin: Any) -> None:
    async with redis_backend(server.url) as backend, backend.bus.subscribe("runs:1") as events:
        await backend.bus.publish("runs:1", a_response())
        await soon(events)

        await admin.client_kill_filter(_type="pubsub")

        with pytest.raises(SubscriptionLostError, match=f"127.0.0.1:{server.port}"):
            await soon(events)


async def test_an_answer_whose_wake_up_was_lost_is_found_after_the_reconnect(
    server: Valkey, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with redis_backend(server.url) as agents, redis_backend(server.url) as bots:
        [check] = _checks(agents, 1)
        [question_id] = await _open_ids(bots, 1)
        # Nobody will be rung: the wake-up is lost.
        await admin.hset(Keys().record(question_id), "i", "")
        assert await _approve(bots, question_id) == 0

        await admin.client_kill_filter(_type="pubsub")
        async with asyncio.timeout(PATIENCE_SECONDS):
            verdict = await check

    assert verdict.approved
    assert "lost its subscription" in caplog.text


async def test_after_a_reconnect_answers_ring_again(server: Valkey, admin: Any) -> None:
    async with redis_backend(server.url) as agents, redis_backend(server.url) as bots:
        [check] = _checks(agents, 1)
        [question_id] = await _open_ids(bots, 1)
        await admin.client_kill_filter(_type="pubsub")
        await until(lambda: admin.pubsub_channels("*inbox*"))

        assert await _approve(bots, question_id) == 1
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await check).approved


async def test_runs_that_wait_through_a_restart_get_their_answers(server: Valkey) -> None:
    async with redis_backend(server.url) as agents, redis_backend(server.url) as bots:
        checks = _checks(agents, 50)
        waiting = await _open_ids(bots, 50)
        server.kill()
        server.start()

        for question_id in waiting:
            await _approve(bots, question_id)
        async with asyncio.timeout(PATIENCE_SECONDS):
            verdicts = await asyncio.gather(*checks)

    assert all(verdict.approved for verdict in verdicts)


async def test_a_run_that_asks_while_redis_is_away_asks_when_it_is_back(server: Valkey) -> None:
    server.kill()
    async with redis_backend(server.url) as agents, redis_backend(server.url) as bots:
        [check] = _checks(agents, 1)
        with pytest.raises(StoreUnreachableError):
            await bots.outbox.count_workers()
        server.start()

        [question_id] = await _open_ids(bots, 1)
        await _approve(bots, question_id)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await check).approved


async def test_an_idle_connection_that_the_server_closed_is_opened_again(
    server: Valkey, admin: Any
) -> None:
    async with redis_backend(server.url) as backend:
        for _ in range(10):
            await backend.outbox.count_workers()
        await admin.client_kill_filter(_type="normal", skipme=True)

        for _ in range(10):
            await backend.outbox.count_workers()
        await admin.client_kill_filter(_type="normal", skipme=True)
        # Not even what may not be repeated notices.
        await backend.bus.publish("runs:1", a_response())


async def test_a_desk_waits_out_an_outage(server: Valkey, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sayso")

    async def it_waits() -> bool:
        return "the outbox waits" in caplog.text

    async with (
        redis_backend(server.url) as agents,
        redis_backend(server.url) as bots,
        bots.outbox.jobs("desk") as jobs,
    ):
        waiting = asyncio.ensure_future(anext(jobs))
        await agents.outbox.count_workers()
        server.kill()
        await until(it_waits)
        server.start()
        await agents.store.open(a_request("q-1"), seconds=30, inbox="", book=None)

        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await waiting).question_id == "q-1"
    assert "the outbox reaches the store again" in caplog.messages


async def test_a_silent_server_is_an_error_in_bounded_time(server: Valkey) -> None:
    async with redis_backend(f"{server.url}?socket_timeout=0.2") as backend:
        await backend.outbox.count_workers()
        server.stop_answering()
        start = time.monotonic()

        with pytest.raises(StoreUnreachableError, match=r"did not answer within 0\.2 s"):
            await backend.outbox.count_workers()

        assert time.monotonic() - start < 2
        server.answer_again()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await backend.outbox.count_workers()


async def test_a_connection_that_died_without_a_word_is_noticed(server: Valkey) -> None:
    client = Client(read_url(f"{server.url}?socket_timeout=0.2"))
    bus = RedisBus(client, silence=0.1)
    async with bus.subscribe("runs:1") as events:
        await bus.publish("runs:1", a_response())
        await soon(events)
        server.stop_answering()

        with pytest.raises(SubscriptionLostError, match="did not answer"):
            await soon(events)

        server.answer_again()
    await client.aclose()


async def test_a_quiet_subscription_lives_on(server: Valkey, admin: Any) -> None:
    async def proved_itself_three_times() -> bool:
        proofs = (await admin.info("commandstats")).get("cmdstat_publish", {})
        return bool(proofs.get("calls", 0) >= 3)

    client = Client(read_url(server.url))
    bus = RedisBus(client, silence=0.02)
    response = a_response()
    await admin.config_resetstat()
    async with bus.subscribe("runs:1") as events:
        heard = asyncio.ensure_future(anext(events))
        await until(proved_itself_three_times)

        await bus.publish("runs:1", response)

        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await heard == response
    await client.aclose()


async def test_an_unreachable_server_is_a_clear_error_without_the_password() -> None:
    port = free_port()
    async with redis_backend(f"redis://me:{SECRET}@127.0.0.1:{port}/0") as backend:
        start = time.monotonic()

        with pytest.raises(StoreUnreachableError) as store:
            await backend.outbox.count_workers()
        with pytest.raises(SubscriptionLostError) as published:
            await backend.bus.publish("runs:1", a_response())
        with pytest.raises(SubscriptionLostError) as subscribed:
            async with backend.bus.subscribe("runs:1"):
                pass

        assert time.monotonic() - start < 5
        for caught in (store, published, subscribed):
            assert f"no Redis answers at 127.0.0.1:{port}; start one" in str(caught.value)
            assert "\n" not in str(caught.value)
            assert SECRET not in str(caught.value)


@pytest.mark.parametrize("login", ["", "wrong-password@", ":wrong-password@"])
async def test_a_refused_login_is_a_clear_error(server: Valkey, login: str) -> None:
    async with redis_backend(f"redis://{login}127.0.0.1:{server.port}") as backend:
        with pytest.raises(StoreUnreachableError, match="refuses the login: check user") as store:
            await backend.outbox.count_workers()
        with pytest.raises(SubscriptionLostError, match="refuses the login"):
            async with backend.bus.subscribe("runs:1"):
                pass

    assert "wrong-password" not in str(store.value)


async def test_a_user_who_may_not_run_scripts_is_a_clear_error(server: Valkey, admin: Any) -> None:
    await admin.acl_setuser("weak", enabled=True, nopass=True, keys=["*"], commands=["+ping"])

    async with redis_backend(f"redis://weak:x@127.0.0.1:{server.port}") as backend:
        with pytest.raises(StoreUnreachableError, match="does not permit this user"):
            await backend.store.settle("q-1", a_response())


async def test_a_key_of_somebody_else_is_a_clear_error(server: Valkey, admin: Any) -> None:
    await admin.set(Keys().record("q-1"), "something else")

    async with redis_backend(server.url) as backend:
        with pytest.raises(StoreUnreachableError, match="refuses a command: WRONGTYPE"):
            await backend.store.settle("q-1", a_response())


async def test_a_full_server_is_a_clear_error(server: Valkey, admin: Any) -> None:
    await admin.config_set("maxmemory", "1")

    async with redis_backend(server.url) as backend:
        with pytest.raises(StoreUnreachableError, match="out of memory"):
            await backend.store.open(a_request(), seconds=30, inbox="", book=None)


async def test_a_message_that_is_no_event_is_skipped_and_not_quoted(
    server: Valkey, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    response = a_response()
    async with redis_backend(server.url) as backend, backend.bus.subscribe("runs:1") as events:
        with caplog.at_level(logging.WARNING):
            for data in (b"\xff not json", b'{"type": "secret-type"}', b"[]", b"null", b"7", b""):
                await admin.publish(Keys().channel("runs:1"), data)
            await backend.bus.publish("runs:1", response)

            assert await soon(events) == response

    assert caplog.text.count("skipped a message that is not an event") == 6
    assert "secret" not in caplog.text
    assert "not json" not in caplog.text


async def test_nothing_is_connected_before_the_first_use_or_left_after_the_last(
    server: Valkey, admin: Any
) -> None:
    async def admin_is_alone() -> bool:
        return len(await admin.client_list()) == 1

    async with redis_backend(server.url) as backend:
        before = len(await admin.client_list())
        async with backend.bus.subscribe("runs:1"), backend.outbox.jobs("desk") as jobs:
            await backend.store.open(a_request(), seconds=30, inbox="", book=None)
            await soon(jobs)

    assert before == 1
    await until(admin_is_alone)
