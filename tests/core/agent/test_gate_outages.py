"""A gate whose store is slow, away or broken: nobody is approved by it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from support.outbox import next_request

from sayso import Gate, RunRef, ToolCall
from sayso.errors import StoreUnreachableError, SubscriptionLostError, WaitTimeoutError
from sayso.events import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.inbox import Inbox
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import Bus, Outbox, Record, RequestStore, Ring

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def approve(backend: Backend, request: PermissionRequestEvent, **fields: Any) -> None:
    response = request.approve(by="slack:U0ALICE", at=now())
    await backend.store.settle(request.permission_id, response.model_copy(update=fields))


class Outage:
    """A store that is away for a while."""

    def __init__(self, backend: Backend, failures: int) -> None:
        self._inner = backend.store
        self._failures = failures

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def open(self, *args: Any, **kwargs: Any) -> Any:
        if self._failures:
            self._failures -= 1
            raise StoreUnreachableError("away")
        return await self._inner.open(*args, **kwargs)

    async def settle(self, *args: Any, **kwargs: Any) -> Any:
        return await self._inner.settle(*args, **kwargs)

    async def settle_later(self, *args: Any, **kwargs: Any) -> Any:
        return await self._inner.settle_later(*args, **kwargs)

    async def overrule(self, *args: Any, **kwargs: Any) -> Any:
        return await self._inner.overrule(*args, **kwargs)

    async def get(self, question_id: str) -> Record | None:
        return await self._inner.get(question_id)


async def test_a_store_that_is_away_for_a_moment_is_waited_for(backend: Backend) -> None:
    away = replace(backend, store=Outage(backend, failures=2))
    async with Gate.open(away, run=RUN, timeout=10) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        await approve(backend, await next_request(backend))

        assert (await waiting).approved


async def test_a_store_that_stays_away_is_an_error_and_no_approval(backend: Backend) -> None:
    away = replace(backend, store=Outage(backend, failures=1_000))
    async with Gate.open(away, run=RUN) as gate:
        with pytest.raises(StoreUnreachableError, match="nobody was asked"):
            await gate.check(CALL, timeout=0.3)


class BrokenStore(Outage):
    """A store with a bug: settling raises what nobody foresaw."""

    async def settle(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("what nobody foresaw")


async def test_a_question_that_cannot_be_withdrawn_is_logged(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    broken = replace(backend, store=BrokenStore(backend, failures=0))
    async with Gate.open(broken, run=RUN, timeout=10) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        await next_request(backend)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert "cancelling a question failed" in caplog.text
    assert "what nobody foresaw" in caplog.text


class Unanswering(Outage):
    """A store that opens a question and does not say so."""

    async def open(self, *args: Any, **kwargs: Any) -> Any:
        await super().open(*args, **kwargs)
        raise StoreUnreachableError("no answer")


async def test_a_question_that_was_opened_without_an_answer_to_it_is_withdrawn(
    backend: Backend,
) -> None:
    forgetful = replace(backend, store=Unanswering(backend, 0))
    async with Gate.open(forgetful, run=RUN, patience=0.05) as gate:
        with pytest.raises(StoreUnreachableError, match="no answer; nobody was asked"):
            await gate.check(CALL)
        await gate.finish()

    assert await backend.store.list_requests() == []


class HungUp:
    """A bus that is heard once, until ``lost`` is set, and never again."""

    def __init__(self, backend: Backend) -> None:
        self._inner = backend.bus
        self.lost = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @asynccontextmanager
    async def rings(self, inbox: str) -> AsyncIterator[AsyncIterator[Ring]]:
        if self.lost.is_set():
            raise SubscriptionLostError("no Redis answers")

        async def nothing() -> AsyncIterator[Ring]:
            await self.lost.wait()
            raise SubscriptionLostError("the subscription was interrupted")
            yield  # pragma: no cover

        yield nothing()


async def test_nobody_is_asked_by_whoever_could_not_hear_the_answer(backend: Backend) -> None:
    bus = HungUp(backend)
    async with Inbox(cast("Bus", bus), backend.store) as inbox:
        deaf = replace(backend, inbox=inbox)
        async with Gate.open(deaf, run=RUN, patience=0.1) as gate:
            await inbox.listening()
            bus.lost.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)

            with pytest.raises(StoreUnreachableError, match="nobody was asked"):
                await gate.check(CALL, timeout=1)

    assert await backend.store.list_requests() == []


class BrokenWatch:
    """A watch with a bug: whatever is asked of it raises what nobody foresaw."""

    def __init__(self, backend: Backend) -> None:
        self._inner = backend.store

    async def poll(self, question_ids: Sequence[str], *, inbox: str) -> Any:
        return await self._inner.poll(question_ids, inbox=inbox)

    async def expire_due(self) -> float | None:
        raise ZeroDivisionError


async def test_a_bug_in_the_timer_still_ends_the_wait_and_approves_nothing(
    backend: Backend,
) -> None:
    async with Inbox(backend.bus, cast("RequestStore", BrokenWatch(backend)), grace=0.2) as inbox:
        broken = replace(backend, inbox=inbox)
        async with Gate.open(broken, run=RUN) as gate:
            with pytest.raises(StoreUnreachableError, match="ZeroDivisionError"):
                await gate.check(CALL, timeout=0.1)


async def test_closing_the_store_ends_every_wait() -> None:
    async with memory_backend() as backend, Gate.open(backend, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        await next_request(backend)

    with pytest.raises(WaitTimeoutError):
        await waiting


async def test_a_check_cancelled_while_it_asks_cancels_its_question_too(backend: Backend) -> None:
    class Slow(Outage):
        """Records, and says so only later."""

        opened = asyncio.Event()

        async def open(self, *args: Any, **kwargs: Any) -> Any:
            await super().open(*args, **kwargs)
            self.opened.set()
            await asyncio.Event().wait()
            raise AssertionError

    slow = replace(backend, store=Slow(backend, failures=0))
    async with Gate.open(slow, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        await Slow.opened.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    assert await backend.store.list_requests() == []


NOBODY = "no bots are running on this store"


async def test_without_redis_it_is_said_once_and_at_once_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with Gate.open(f"redis://127.0.0.1:{port}", run=RUN) as gate:
        with pytest.raises(StoreUnreachableError, match="nobody was asked"):
            await gate.check(CALL, timeout=0.5)

    [said] = caplog.messages
    assert said.startswith("cannot ask yet, trying again: ")
    assert f"no Redis answers at 127.0.0.1:{port}; start one, or correct the address" in said


async def test_whoever_asks_is_told_once_when_nobody_serves_the_store(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        Inbox(backend.bus, backend.store, backend.outbox) as inbox,
        Gate.open(replace(backend, inbox=inbox), run=RUN) as gate,
    ):
        await gate.submit(CALL)
        await gate.submit(ToolCall("bash", {"command": "date"}))
        async with asyncio.timeout(5):
            while not caplog.messages:
                await asyncio.sleep(0)

    assert [NOBODY in message for message in caplog.messages] == [True]


async def test_nothing_is_said_where_bots_are_at_work(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    roster = CountedRoster(backend.outbox)
    await backend.outbox.heartbeat("bots", seconds=60)
    async with (
        Inbox(backend.bus, backend.store, cast("Outbox", roster)) as inbox,
        Gate.open(replace(backend, inbox=inbox), run=RUN) as gate,
    ):
        await gate.submit(CALL)
        async with asyncio.timeout(5):
            await roster.counted.wait()
            await asyncio.sleep(0)

    assert caplog.messages == []


async def test_a_roster_that_hangs_delays_no_question(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    roster = CountedRoster(backend.outbox, hangs=True)
    async with (
        Inbox(backend.bus, backend.store, cast("Outbox", roster)) as inbox,
        Gate.open(replace(backend, inbox=inbox), run=RUN) as gate,
    ):
        waiting = asyncio.create_task(gate.check(CALL))
        await approve(backend, await next_request(backend))

        assert (await waiting).approved

    assert caplog.messages == []


async def test_in_the_memory_of_one_process_nobody_is_told_of_bots(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        await approve(backend, await next_request(backend))
        await waiting

    assert caplog.messages == []


async def test_a_question_that_is_not_waited_for_is_withdrawn_by_whoever_asked(
    backend: Backend,
) -> None:
    async with Gate.open(backend, run=RUN, withdrawn_by="cli:ci@runner") as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        await next_request(backend)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    *_, last = await backend.audit.read(10)
    assert (last.kind, last.by) == ("cancelled", "cli:ci@runner")


class CountedRoster:
    """A roster that says when it was counted, or never answers."""

    def __init__(self, inner: Outbox, *, hangs: bool = False) -> None:
        self._inner = inner
        self._hangs = hangs
        self.counted = asyncio.Event()

    async def count_workers(self) -> int:
        if self._hangs:
            await asyncio.Event().wait()
        found = await self._inner.count_workers()
        self.counted.set()
        return found
