"""The one inbox of a process: waits end in time, and lost wake-ups are found."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import repeat
from typing import Any, cast

import pytest
from support.outbox import next_request

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.errors import SaysoError, StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.inbox import Inbox
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import Bus, RequestStore, Ring
from sayso.testing import until

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.fixture
async def gate(backend: Backend) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RUN, timeout=600) as gate:
        yield gate


async def ended(gate: Gate, seconds: float) -> float:
    """The moment when a question of so many seconds has ended without an answer."""
    verdict = await gate.check(CALL, timeout=seconds)
    assert verdict.outcome is Outcome.EXPIRED
    return asyncio.get_running_loop().time()


async def test_many_that_are_due_at_one_moment_all_end(gate: Gate) -> None:
    async with asyncio.timeout(20):
        await asyncio.gather(*(ended(gate, 3) for _ in range(300)))


async def test_waits_end_in_the_order_of_their_times_whatever_that_of_their_questions(
    gate: Gate,
) -> None:
    seconds = [0.9, 0.3, 0.6, 0.1]
    began = asyncio.get_running_loop().time()

    moments = await asyncio.gather(*(ended(gate, one) for one in seconds))

    assert sorted(moments) == [moments[3], moments[1], moments[2], moments[0]]
    for moment, one in zip(moments, seconds, strict=True):
        assert moment - began >= one - 0.1


async def test_a_shorter_wait_ends_while_a_longer_one_goes_on(gate: Gate) -> None:
    longer = asyncio.create_task(ended(gate, 600))
    await next_request(gate.backend)

    await ended(gate, 0.1)

    assert not longer.done()
    longer.cancel()


async def test_what_became_due_while_the_loop_was_held_up_ends_when_it_goes_on(gate: Gate) -> None:
    loop = asyncio.get_running_loop()
    waits = [asyncio.create_task(ended(gate, seconds)) for seconds in (0.2, 0.3, 0.25)]

    async def all_are_open() -> bool:
        return len(await gate.backend.store.list_requests()) == len(waits)

    await until(all_are_open)
    held_until = loop.time() + 0.5
    while loop.time() < held_until:
        pass
    async with asyncio.timeout(20):
        await asyncio.gather(*waits)


class _Id(str):
    """An id of which one can see whether anything is kept."""

    __slots__ = ("__weakref__",)


def come_and_go(inbox: Inbox, question_ids: Iterable[str]) -> int:
    """Wait for each, for a day, and give it up; how many of these ids something still keeps."""
    there = []
    for name in question_ids:
        question_id = _Id(name)
        future = inbox.expect(question_id)
        inbox.due_in(question_id, 86_400)
        inbox.forget(question_id, future)
        there.append(weakref.ref(question_id))
    gc.collect()
    return sum(one() is not None for one in there)


async def test_of_waits_that_were_given_up_little_is_kept(backend: Backend) -> None:
    assert come_and_go(backend.inbox, (f"q-{number}" for number in range(5_000))) <= 1_001


async def test_little_is_kept_of_those_who_came_and_went_while_another_waits_on(
    backend: Backend,
) -> None:
    backend.inbox.expect("q")

    assert come_and_go(backend.inbox, repeat("q", 5_000)) <= 1_003


async def test_those_who_still_wait_are_due_when_the_others_are_forgotten(gate: Gate) -> None:
    kept = asyncio.create_task(ended(gate, 0.5))
    await next_request(gate.backend)
    come_and_go(gate.backend.inbox, (f"q-{number}" for number in range(3_000)))

    async with asyncio.timeout(20):
        await kept


class Deaf:
    """A bus on which no ring is heard."""

    @asynccontextmanager
    async def rings(self, inbox: str) -> AsyncIterator[AsyncIterator[Ring]]:
        del inbox

        async def silence() -> AsyncIterator[Ring]:
            await asyncio.Event().wait()
            yield cast("Ring", None)

        yield silence()


class Away:
    """What a waiting process looks at, with a store that is away at first."""

    def __init__(self, watch: RequestStore, failures: Iterator[Exception]) -> None:
        self._watch = watch
        self._failures = failures

    async def poll(self, *args: Any, **kwargs: Any) -> Any:
        for error in self._failures:
            raise error
        return await self._watch.poll(*args, **kwargs)

    async def expire_due(self) -> float | None:
        return await self._watch.expire_due()


async def approved(backend: Backend, inbox: Inbox) -> None:
    """Return when a question whose ring is lost was answered and its run went on."""
    deaf = replace(backend, inbox=inbox)
    async with asyncio.timeout(20), Gate.open(deaf, run=RUN, timeout=600) as gate:
        check = asyncio.create_task(gate.check(CALL))
        request = await next_request(backend)
        response = request.approve(by="slack:U0ALICE", at=datetime.now(UTC))
        await backend.store.settle(request.permission_id, response)
        assert (await check).approved


async def test_an_answer_whose_ring_was_lost_is_found_by_a_look(backend: Backend) -> None:
    async with Inbox(cast("Bus", Deaf()), backend.store, look_every=0.05) as inbox:
        await approved(backend, inbox)


async def test_looks_go_on_after_one_that_failed_and_its_failure_is_told_once(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([StoreUnreachableError("away")] * 3)
    watch = cast("RequestStore", Away(backend.store, failures))
    async with Inbox(cast("Bus", Deaf()), watch, look_every=0.05) as inbox:
        await approved(backend, inbox)

    assert caplog.text.count("could not look for answers: away") == 1


async def test_a_look_that_failed_is_made_again_long_before_the_next_round(
    backend: Backend,
) -> None:
    tried: list[float] = []

    def away_at_first() -> Iterator[Exception]:
        for _ in range(2):
            tried.append(asyncio.get_running_loop().time())
            yield StoreUnreachableError("away")

    watch = cast("RequestStore", Away(backend.store, away_at_first()))
    async with Inbox(cast("Bus", Deaf()), watch, look_every=2) as inbox:
        await approved(backend, inbox)

    first, again = tried
    assert again - first < 1


class Stuck:
    """What a waiting process looks at, where one of the first questions cannot be read."""

    def __init__(self, watch: RequestStore) -> None:
        self._unreadable = ""
        self._watch = watch

    async def poll(self, question_ids: Sequence[str], *, inbox: str) -> Any:
        self._unreadable = self._unreadable or question_ids[0]
        if self._unreadable in question_ids:
            raise StoreUnreachableError("it cannot be read")
        return await self._watch.poll(question_ids, inbox=inbox)


async def test_a_question_that_cannot_be_read_does_not_keep_all_others_from_their_look(
    backend: Backend,
) -> None:
    watch = cast("RequestStore", Stuck(backend.store))
    async with Inbox(cast("Bus", Deaf()), watch, look_every=0.2) as inbox:
        await inbox.listening()
        waits = [inbox.expect(f"q-{number}") for number in range(2_000)]
        for number in range(2_000):
            inbox.due_in(f"q-{number}", 86_400)

        async def many_were_looked_after() -> bool:
            return sum(one.done() for one in waits) > 500

        await until(many_were_looked_after)
    # None of them is in the store.
    assert all(isinstance(one.exception(), SaysoError) for one in waits)


async def test_a_look_that_failed_is_no_trouble_any_more_when_the_store_is_back(
    backend: Backend,
) -> None:
    is_away = True
    failures = (StoreUnreachableError("away") for _ in iter(lambda: is_away, False))
    watch = cast("RequestStore", Away(backend.store, failures))

    async with Inbox(cast("Bus", Deaf()), watch, look_every=0.05) as inbox:
        deaf = replace(backend, inbox=inbox)
        async with asyncio.timeout(20), Gate.open(deaf, run=RUN, timeout=600) as gate:
            check = asyncio.create_task(gate.check(CALL))

            async def is_told() -> bool:
                return inbox.troubles.latest == "away"

            async def is_over() -> bool:
                return not inbox.troubles.latest

            await until(is_told)
            is_away = False
            await until(is_over)
            check.cancel()
