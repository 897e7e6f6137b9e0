"""Servers that say that another one is to be asked, or that nothing will come of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis
from support.fake_redis import fake_redis, sentinel_that_names
from support.valkey_server import Valkey

from sayso.errors import StoreUnreachableError, SubscriptionLostError
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response, soon

PASSWORD = "s3cret"


async def test_another_sentinel_is_asked_where_one_does_not_know_the_service() -> None:
    server = Valkey()
    server.start()
    try:
        async with (
            fake_redis(lambda _: b"*0\r\n") as strange,
            fake_redis(sentinel_that_names(lambda: server.port)) as known,
        ):
            hosts = f"127.0.0.1:{strange},127.0.0.1:{known}"
            async with redis_backend(
                f"redis+sentinel://:{server.password}@{hosts}/main"
            ) as backend:
                await backend.outbox.count_workers()
    finally:
        server.close()


async def test_a_primary_that_became_a_replica_is_left_at_once() -> None:
    old, new = Valkey(password=PASSWORD), Valkey(password=PASSWORD)
    old.start()
    new.start()
    primary = old
    request = a_request()
    try:
        async with (
            fake_redis(sentinel_that_names(lambda: primary.port)) as port,
            redis_backend(f"redis+sentinel://:{PASSWORD}@127.0.0.1:{port}/main") as backend,
            Redis.from_url(old.url) as admin,
        ):
            await backend.store.open(a_request(), seconds=30, inbox="", book=None)
            await admin.config_set("masterauth", PASSWORD)
            await admin.replicaof("127.0.0.1", str(new.port))
            primary = new

            # The connection stands, and what answers on it takes no writes any more.
            await backend.store.open(request, seconds=30, inbox="", book=None)

            async with backend.outbox.jobs("desk") as jobs:
                assert (await soon(jobs)).question_id == request.question_id
    finally:
        old.close()
        new.close()


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (b"-NOPERM this user has no permissions to run the 'subscribe' command\r\n", "permit"),
        (b"-ERR unknown command\r\n", "refuses a command"),
        (b"-LOADING Redis is loading the dataset in memory\r\n", "is still loading its data"),
    ],
)
async def test_an_error_instead_of_a_subscription_is_told_at_once(reply: bytes, told: str) -> None:
    async with (
        fake_redis(lambda _words: reply) as port,
        redis_backend(f"redis://127.0.0.1:{port}") as backend,
    ):
        with pytest.raises(SubscriptionLostError, match=told):
            async with backend.bus.subscribe("topic"):
                pass
        with pytest.raises(SubscriptionLostError, match=told):
            async with backend.bus.rings("inbox"):
                pass


ASKED: dict[str, Callable[[Backend], Awaitable[object]]] = {
    "get": lambda backend: backend.store.get("gone"),
    "look": lambda backend: backend.store.poll(["gone"], inbox="an-inbox"),
    "settle": lambda backend: backend.store.settle("gone", a_response(a_request("gone"))),
    "shorten": lambda backend: backend.store.shorten_deadline("gone", 1),
    "find": lambda backend: backend.copies.find("a-handle"),
    "revoke": lambda backend: backend.rules.revoke("gone", by="cli:me"),
}


@pytest.mark.parametrize("asked", ASKED)
async def test_what_a_former_primary_does_not_know_of_is_not_called_unknown(asked: str) -> None:
    server = Valkey(password=PASSWORD)
    server.start()
    try:
        async with redis_backend(server.url) as backend, Redis.from_url(server.url) as admin:
            assert await backend.store.get("gone") is None
            # Opened on the new primary, which it does not reach.
            await admin.replicaof("127.0.0.1", "1")

            with pytest.raises(StoreUnreachableError, match="read-only replica"):
                await ASKED[asked](backend)
    finally:
        server.close()
