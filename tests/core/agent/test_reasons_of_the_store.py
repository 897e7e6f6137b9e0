"""Why the store cannot be used, or what it lost, is said to the agent as it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from redis.asyncio import Redis
from support.valkey_server import Valkey

from sayso import Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.errors import StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, soon, until

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})


@pytest.fixture
def server() -> Iterator[Valkey]:
    valkey = Valkey(enable_protected_configs="yes")
    valkey.start()
    yield valkey
    valkey.close()


@pytest.fixture
async def admin(server: Valkey) -> AsyncIterator[Any]:
    async with Redis.from_url(server.url) as client:
        yield client


async def _refused(url: str) -> str:
    async with Gate.open(url, run=RUN, patience=0.5) as gate:
        with pytest.raises(StoreUnreachableError) as refused:
            await gate.check(CALL)
    return str(refused.value)


async def test_a_full_store_is_called_full(server: Valkey, admin: Any) -> None:
    await admin.config_set("maxmemory", "1")

    said = await _refused(server.url)

    assert f"127.0.0.1:{server.port} is out of memory: raise maxmemory; nobody was asked" in said


async def test_a_replica_is_called_read_only(server: Valkey) -> None:
    replica = Valkey(replicaof=f"127.0.0.1 {server.port}", masterauth=server.password)
    replica.start()
    try:
        said = await _refused(replica.url)
    finally:
        replica.close()

    assert "is a read-only replica: connect to the primary; nobody was asked" in said


@pytest.mark.parametrize(
    ("user", "missing"),
    [
        ({"keys": ["*"], "channels": ["*"], "commands": ["+@all", "-zadd"]}, "ZADD on "),
        ({"keys": ["*"], "channels": ["*"], "commands": ["+@all", "-evalsha"]}, "'evalsha'"),
        ({"keys": ["*"], "channels": ["*"], "commands": ["+@all", "-subscribe"]}, "'subscribe'"),
        ({"keys": ["other:*"], "channels": ["*"], "commands": ["+@all"]}, "permi"),
        ({"keys": ["*"], "channels": ["other"], "commands": ["+@all"]}, "channel"),
    ],
    ids=["a command of a script", "scripts", "subscribing", "keys", "channels"],
)
async def test_a_missing_permission_is_called_that(
    server: Valkey, admin: Any, user: dict[str, list[str]], missing: str
) -> None:
    await admin.acl_setuser("weak", enabled=True, nopass=True, **user)

    said = await _refused(f"redis://weak:x@127.0.0.1:{server.port}")

    assert "does not permit this user what Sayso needs: " in said
    assert missing in said
    assert "nobody was asked" in said


async def test_a_request_that_was_half_opened_is_opened_by_the_next_attempt(
    server: Valkey, admin: Any
) -> None:
    rights = {"keys": ["*"], "channels": ["*"]}
    await admin.acl_setuser(
        "weak", enabled=True, nopass=True, commands=["+@all", "-xadd"], **rights
    )
    request = a_request()
    async with redis_backend(f"redis://weak:x@127.0.0.1:{server.port}") as backend:
        with pytest.raises(StoreUnreachableError):
            await backend.store.open(request, seconds=30, inbox="", book=None)
        await admin.acl_setuser("weak", enabled=True, nopass=True, commands=["+@all"], **rights)

        await backend.store.open(request, seconds=30, inbox="", book=None)

        assert [one.request for one in await backend.store.list_requests()]
        async with backend.outbox.jobs("desk") as jobs:
            assert (await soon(jobs)).question_id == request.question_id


async def test_a_store_that_cannot_save_is_called_that(server: Valkey, admin: Any) -> None:
    (server.folder / "gone").mkdir()
    await admin.config_set("dir", str(server.folder / "gone"))
    (server.folder / "gone").rmdir()
    await admin.config_set("save", "3600 1")

    async def saving_failed() -> bool:
        info = await admin.info("persistence")
        return bool(info["rdb_last_bgsave_status"] == "err")

    await admin.bgsave()
    await until(saving_failed)

    assert "takes no writes, because it cannot save its data" in await _refused(server.url)


async def _waiting(backend: Backend) -> asyncio.Task[Any]:
    gate = Gate(backend, GateOptions(RUN))
    check = asyncio.create_task(gate.check(CALL, timeout=600))

    async def it_is_open() -> bool:
        return len(await backend.store.list_requests()) == 1

    await until(it_is_open)
    return check


async def test_a_store_that_restarts_without_its_data_lost_the_request(server: Valkey) -> None:
    async with redis_backend(server.url) as backend:
        check = await _waiting(backend)
        server.kill()
        server.start()

        with pytest.raises(StoreUnreachableError, match="the store lost this request"):
            async with asyncio.timeout(10):
                await check


async def test_deleted_data_is_a_lost_request_at_the_next_look(server: Valkey, admin: Any) -> None:
    async with redis_backend(server.url) as backend:
        check = await _waiting(backend)
        [record] = await backend.store.list_requests()
        await admin.flushall()
        await backend.inbox.look([record.request.question_id])

        with pytest.raises(StoreUnreachableError, match="nothing was approved, ask again"):
            await check


async def test_data_that_is_deleted_while_a_question_is_resumed_is_a_lost_request() -> None:
    async with memory_backend() as backend, Gate.open(backend, run=RUN) as gate:
        known = await gate.submit(CALL)
        assert isinstance(known, str)
        resumed = asyncio.create_task(gate.resume(known))
        for _ in range(20):
            await asyncio.sleep(0)
        backend.store._records._entries.clear()  # type: ignore[attr-defined]
        await backend.inbox.look([known])

        with pytest.raises(StoreUnreachableError):
            await resumed
