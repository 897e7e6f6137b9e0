"""Desks that die, sleep or are forgotten, and a server that was emptied."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.counted import Counted
from support.fake_redis import fake_redis

from sayso.stores.backend import Backend
from sayso.stores.protocols import Job
from sayso.stores.redis import redis_backend
from sayso.stores.redis.connection import Client
from sayso.stores.redis.keys import GROUP, Keys
from sayso.stores.redis.outbox import RedisOutbox
from sayso.stores.redis.url import read_url
from sayso.testing import a_request, soon, until
from sayso.testing.builders import PATIENCE_SECONDS


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url, takeover_after=0.1) as opened:
        yield opened


async def _die_with_jobs(server: Any, keys: Keys) -> None:
    """A desk takes everything and is never heard of again."""
    await server.xreadgroup(GROUP, "dead", {keys.jobs: ">"})


async def _desks(server: Any, keys: Keys) -> set[str]:
    return {desk["name"].decode() for desk in await server.xinfo_consumers(keys.jobs, GROUP)}


async def _group(backend: Backend) -> None:
    async with backend.outbox.jobs("first") as jobs:
        await backend.store.open(a_request(), seconds=30, inbox="", book=None)
        await backend.outbox.done(await soon(jobs))


async def test_jobs_finished_together_are_all_gone(
    backend: Backend, server: Any, keys: Keys
) -> None:
    for number in range(20):
        await backend.store.open(a_request(f"q-{number}"), seconds=30, inbox="", book=None)

    async with backend.outbox.jobs("desk") as jobs:
        taken = [await soon(jobs) for _ in range(20)]
        await asyncio.gather(*(backend.outbox.done(job) for job in taken))

        assert await server.xlen(keys.jobs) == 0
        assert (await server.xpending(keys.jobs, GROUP))["pending"] == 0


async def test_jobs_that_end_one_after_the_other_are_reported_in_few_steps(store_url: str) -> None:
    client = Client(read_url(store_url))
    counted: Any = Counted(client, "run")
    outbox = RedisOutbox(counted)

    async def done_after(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        await outbox.done(Job("ask", f"q-{turns}", f"{turns}-1"))

    await asyncio.gather(*(done_after(turns) for turns in range(50)))

    assert counted.looks <= 5
    await client.aclose()


async def test_what_nobody_waits_for_is_reported_before_the_store_is_closed(
    store_url: str, server: Any, keys: Keys
) -> None:
    others = asyncio.all_tasks()
    async with redis_backend(store_url) as backend:
        await _group(backend)
        await backend.store.open(a_request(), seconds=30, inbox="", book=None)
        [[_, [[receipt, _]]]] = await server.xreadgroup(GROUP, "gone", {keys.jobs: ">"})
        waiting = asyncio.create_task(backend.outbox.done(Job("ask", "q", receipt.decode())))
        await asyncio.sleep(0)
        waiting.cancel()

    assert asyncio.all_tasks() <= others
    assert (await server.xpending(keys.jobs, GROUP))["pending"] == 0


async def test_what_is_finished_is_not_given_back_by_a_desk_that_leaves_before_it_is_reported(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await backend.store.open(a_request(), seconds=30, inbox="", book=None)
    async with backend.outbox.jobs("desk") as jobs:
        waiting = asyncio.create_task(backend.outbox.done(await soon(jobs)))
        await asyncio.sleep(0)
        waiting.cancel()

    assert await server.xlen(keys.jobs) == 0


@asynccontextmanager
async def _reporting() -> AsyncIterator[tuple[RedisOutbox, asyncio.Task[None]]]:
    """An outbox and who waits for a report that a store does not answer."""
    asked = asyncio.Event()

    def say_nothing(_words: Sequence[str]) -> bytes:
        asked.set()
        return b""

    async with fake_redis(say_nothing) as port:
        client = Client(read_url(f"redis://127.0.0.1:{port}"))
        outbox = RedisOutbox(client)
        waiting = asyncio.create_task(outbox.done(Job("ask", "q", "1-1")))
        await asyncio.wait_for(asked.wait(), PATIENCE_SECONDS)
        yield outbox, waiting
        await client.aclose()


async def test_closing_that_is_cancelled_leaves_no_report_under_way() -> None:
    async with _reporting() as (outbox, waiting):
        closing = asyncio.create_task(outbox.aclose())
        await asyncio.sleep(0)

        closing.cancel()
        await asyncio.wait((closing,))

        assert [one for one in asyncio.all_tasks() if "_tell" in repr(one.get_coro())] == []
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_closing_gives_up_the_report_that_a_store_does_not_answer() -> None:
    async with _reporting() as (outbox, waiting):
        await asyncio.wait_for(outbox.aclose(), PATIENCE_SECONDS)

        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_the_jobs_of_a_dead_desk_are_taken_over(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await _group(backend)
    for number in range(40):
        await backend.store.open(a_request(f"q-{number}"), seconds=30, inbox="", book=None)
    await _die_with_jobs(server, keys)

    async with backend.outbox.jobs("living") as jobs:
        taken = []
        for _ in range(40):
            job = await soon(jobs)
            await backend.outbox.done(job)
            taken.append(job.question_id)

    assert sorted(taken) == sorted(f"q-{number}" for number in range(40))
    assert await server.xlen(keys.jobs) == 0


async def test_a_slow_desk_keeps_its_job(backend: Backend) -> None:
    async with backend.outbox.jobs("slow") as slow, backend.outbox.jobs("other") as other:
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
        job = await soon(slow)

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.6):
                await anext(other)

        await backend.outbox.done(job)


async def test_a_desk_does_not_take_back_what_another_took_over(
    backend: Backend, server: Any, keys: Keys
) -> None:
    async def said_again() -> bool:
        # The slow desk said two times that it still works on its jobs.
        seen = (await server.info("commandstats")).get("cmdstat_xpending", {})
        return bool(seen.get("calls", 0) >= 2)

    async with backend.outbox.jobs("slow") as slow:
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
        job = await soon(slow)
        await server.xclaim(keys.jobs, GROUP, "other", 0, [job.receipt])
        await server.config_resetstat()
        await until(said_again)

        [pending] = await server.xpending_range(keys.jobs, GROUP, "-", "+", 10)

    assert pending["consumer"] == b"other"


async def test_a_dead_desk_is_forgotten_when_its_jobs_have_been_taken_over(
    store_url: str, server: Any, keys: Keys
) -> None:
    async def it_is_old() -> bool:
        desks = await server.xinfo_consumers(keys.jobs, GROUP)
        return any(desk["name"] == b"dead" and desk["idle"] > 500 for desk in desks)

    async def it_is_forgotten() -> bool:
        return await _desks(server, keys) == {living}

    async with redis_backend(store_url, takeover_after=0.02) as backend:
        await _group(backend)
        for number in range(40):
            await backend.store.open(a_request(f"q-{number}"), seconds=30, inbox="", book=None)
        await _die_with_jobs(server, keys)
        await until(it_is_old)

        async with backend.outbox.jobs("living") as jobs:
            taken = [await soon(jobs) for _ in range(40)]
            [living] = await _desks(server, keys) - {"dead"}
            waiting = asyncio.ensure_future(anext(jobs))
            await until(it_is_forgotten)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    assert {job.question_id for job in taken} == {f"q-{number}" for number in range(40)}
    assert await _desks(server, keys) == set()


async def test_a_dead_desk_that_has_jobs_is_not_forgotten(
    store_url: str, server: Any, keys: Keys
) -> None:
    """Whoever forgets a desk drops the jobs that it took."""

    async def it_is_old() -> bool:
        desks = await server.xinfo_consumers(keys.jobs, GROUP)
        return any(desk["name"] == b"dead" and desk["idle"] > 300 for desk in desks)

    async with redis_backend(store_url, takeover_after=0.01) as backend:
        await _group(backend)
        for number in range(70):
            await backend.store.open(a_request(f"q-{number}"), seconds=30, inbox="", book=None)
        await _die_with_jobs(server, keys)
        await until(it_is_old)

        taken: set[str] = set()
        async with backend.outbox.jobs("living") as jobs:
            # More than it takes over at once: the dead desk is old and keeps some for now.
            while len(taken) < 70:
                job = await soon(jobs)
                await backend.outbox.done(job)
                taken.add(job.question_id)

    assert taken == {f"q-{number}" for number in range(70)}


async def test_a_job_that_is_done_leaves_nothing_behind(
    backend: Backend, server: Any, keys: Keys
) -> None:
    async with backend.outbox.jobs("desk") as jobs:
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
        await backend.outbox.done(await soon(jobs))

        assert (await server.xpending(keys.jobs, GROUP))["pending"] == 0
        assert await server.xlen(keys.jobs) == 0


async def test_a_desk_that_was_frozen_does_not_take_its_own_job_again(backend: Backend) -> None:
    async with backend.outbox.jobs("desk") as jobs:
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
        await soon(jobs)
        await backend.store.open(a_request("q-2"), seconds=30, inbox="", book=None)
        time.sleep(0.2)  # noqa: ASYNC251  the whole process stands still for longer than a takeover

        assert (await soon(jobs)).question_id == "q-2"


async def test_a_desk_goes_on_at_once_when_the_server_was_emptied(
    store_url: str, server: Any, keys: Keys
) -> None:
    async with (
        redis_backend(store_url, takeover_after=600) as backend,
        backend.outbox.jobs("desk") as jobs,
    ):
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
        await backend.outbox.done(await soon(jobs))
        waiting = asyncio.ensure_future(anext(jobs))
        await server.delete(*[key async for key in server.scan_iter(f"{keys.prefix}*")])

        await backend.store.open(a_request("q-2"), seconds=30, inbox="", book=None)

        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await waiting).question_id == "q-2"


async def test_two_desks_of_one_name_are_two_desks(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
    async with backend.outbox.jobs("desk") as leaving:
        job = await soon(leaving)
        async with backend.outbox.jobs("desk") as other:
            await backend.store.open(a_request("q-2"), seconds=30, inbox="", book=None)
            await soon(other)

            assert len(await _desks(server, keys)) == 2

        # The other one has left; the first one's job is still its own.
        pending = await server.xpending_range(keys.jobs, GROUP, "-", "+", 10)
        assert [entry["message_id"].decode() for entry in pending] == [job.receipt]
