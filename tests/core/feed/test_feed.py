"""The feed: events of branches for many readers of one process, with one subscription."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from sayso.calls import RunRef
from sayso.errors import EventsMissedError, StoreUnreachableError, SubscriptionLostError
from sayso.events import Event
from sayso.feed.feed import TAIL_EVENTS, BranchFeed, Follower
from sayso.feed.pages import READS_AT_ONCE
from sayso.stores.backend import Backend
from sayso.stores.branch_log import BEGINNING, LoggedEvent, LogKind, Position
from sayso.stores.connect import open_store
from sayso.stores.protocols import BranchLog, Bus
from sayso.stores.topics import LOG_TOPIC
from sayso.testing import a_request, until
from sayso.testing.builders import PATIENCE_SECONDS

RUN = RunRef("deploy-bot", "s-42", run_id="run-1")


async def write(backend: Backend, *numbers: int, run: RunRef = RUN) -> None:
    for number in numbers:
        request = a_request(f"{run.session_id}-q-{number}", run=run)
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.log.append(run, request.question_id, "request", request)


async def take(follower: Follower, count: int) -> list[int]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [(await follower.next()).position.number for _ in range(count)]


class Counted:
    """A log and a bus that count how they are used, and can be away."""

    def __init__(self, backend: Backend) -> None:
        self._log: BranchLog = backend.log
        self._bus: Bus = backend.bus
        self.reads = 0
        self.reading = 0
        self.most_at_once = 0
        self.hold_beginning: asyncio.Event | None = None
        self.subscriptions = 0
        self.deaf = False
        self.away = False

    async def append(self, run: RunRef, question_id: str, kind: LogKind, event: Event) -> bool:
        return await self._log.append(run, question_id, kind, event)

    async def end(self, run: RunRef) -> Position:
        return await self._log.end(run)

    async def after(self, run: RunRef, position: Position, *, count: int) -> Sequence[LoggedEvent]:
        self.reads += 1
        if self.away:
            raise StoreUnreachableError("the store is away")
        self.reading += 1
        self.most_at_once = max(self.most_at_once, self.reading)
        try:
            found = await self._log.after(run, position, count=count)
            await asyncio.sleep(0)
            if self.hold_beginning is not None and position == BEGINNING:
                await self.hold_beginning.wait()
            return found
        finally:
            self.reading -= 1

    async def open_questions(self, run: RunRef) -> int:
        return await self._log.open_questions(run)

    async def publish(self, topic: str, event: Event) -> None:
        await self._bus.publish(topic, event)

    async def subscribers(self, topic: str) -> int:
        return await self._bus.subscribers(topic)

    def rings(self, inbox: str) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        return self._bus.rings(inbox)

    def subscribe(self, topic: str) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        self.subscriptions += 1
        if self.deaf:
            raise SubscriptionLostError("the bus is away")
        return self._bus.subscribe(topic)


async def test_a_thousand_followers_cost_one_subscription_and_one_read_an_event(
    backend: Backend,
) -> None:
    counted = Counted(backend)
    async with BranchFeed(counted, counted) as feed:
        following = [feed.follow(RUN, None) for _ in range(1_000)]
        followers = [await one.__aenter__() for one in following]
        reads = counted.reads
        for number in range(5):
            await write(backend, number)
            assert await asyncio.gather(*(take(one, 1) for one in followers)) == [
                [number + 1]
            ] * len(followers)
        for one in following:
            await one.__aexit__(None, None, None)

    assert counted.subscriptions == 1
    assert counted.reads - reads <= 10


async def test_a_herd_that_resumes_shares_its_reads(backend: Backend) -> None:
    await write(backend, *range(300))
    counted = Counted(backend)
    async with BranchFeed(counted, counted) as feed:

        async def resume() -> list[int]:
            async with feed.follow(RUN, BEGINNING) as follower:
                return await take(follower, 300)

        herd = await asyncio.gather(*(resume() for _ in range(500)))
        late = await resume()

    assert herd == [list(range(1, 301))] * 500
    assert late == list(range(1, 301))
    assert counted.reads <= 10


async def test_a_few_pages_are_read_at_once_however_many_are_wanted(backend: Backend) -> None:
    await write(backend, *range(100))
    end = await backend.log.end(RUN)
    counted = Counted(backend)
    async with BranchFeed(counted, counted) as feed:

        async def resume(number: int) -> list[int]:
            async with feed.follow(RUN, Position(end.epoch, number)) as follower:
                return await take(follower, 100 - number)

        herd = await asyncio.gather(*(resume(number) for number in range(100)))

    assert herd == [list(range(number + 1, 101)) for number in range(100)]
    assert 1 < counted.most_at_once <= READS_AT_ONCE + 1  # and one for what is new


async def test_who_joins_a_read_under_way_misses_nothing_that_was_written_meanwhile(
    backend: Backend,
) -> None:
    counted = Counted(backend)
    counted.hold_beginning = asyncio.Event()
    async with BranchFeed(counted, counted) as feed, feed.follow(RUN, None) as live:

        async def resume() -> list[int]:
            async with feed.follow(RUN, BEGINNING) as follower:
                return await take(follower, 1)

        first = asyncio.create_task(resume())
        await until(lambda: _read_since(counted, 1))
        await write(backend, 0)
        assert await take(live, 1) == [1]
        second = asyncio.create_task(resume())
        for _ in range(10):
            await asyncio.sleep(0)
        counted.hold_beginning.set()

        assert [await first, await second] == [[1], [1]]


async def test_one_who_goes_away_takes_nobody_along_who_waits_for_the_same_page(
    backend: Backend,
) -> None:
    await write(backend, 0)
    counted = Counted(backend)
    counted.hold_beginning = asyncio.Event()
    async with BranchFeed(counted, counted) as feed:

        async def resume() -> list[int]:
            async with feed.follow(RUN, BEGINNING) as follower:
                return await take(follower, 1)

        leaving, staying = asyncio.create_task(resume()), asyncio.create_task(resume())
        await until(lambda: _reading(counted))
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        counted.hold_beginning.set()

        assert await staying == [1]


async def _reading(counted: Counted) -> bool:
    return counted.reading > 0


async def test_followers_start_anywhere_and_miss_nothing(backend: Backend) -> None:
    await write(backend, *range(300))
    end = await backend.log.end(RUN)
    async with (
        BranchFeed(backend.log, backend.bus) as feed,
        feed.follow(RUN, BEGINNING) as all_of_it,
        feed.follow(RUN, Position(end.epoch, 150)) as half,
        feed.follow(RUN, end) as last,
        feed.follow(RUN, None) as new,
    ):
        await write(backend, *range(300, 310))

        assert await take(all_of_it, 310) == list(range(1, 311))
        assert await take(half, 160) == list(range(151, 311))
        assert await take(last, 10) == list(range(301, 311))
        assert await take(new, 10) == list(range(301, 311))


async def test_one_who_reads_from_the_beginning_while_much_is_written_misses_nothing(
    backend: Backend,
) -> None:
    async with BranchFeed(backend.log, backend.bus) as feed, feed.follow(RUN, None) as first:
        await write(backend, *range(50))
        async with feed.follow(RUN, BEGINNING) as follower:
            writing = asyncio.create_task(write(backend, *range(50, 150)))
            heard = await take(follower, 150)
            await writing
        assert await take(first, 150) == heard == list(range(1, 151))


async def test_who_falls_too_far_behind_is_cut_off_and_can_go_on(backend: Backend) -> None:
    count = TAIL_EVENTS + 10
    async with (
        BranchFeed(backend.log, backend.bus) as feed,
        feed.follow(RUN, None) as slow,
        feed.follow(RUN, None) as quick,
    ):
        await write(backend, 0)
        assert await take(slow, 1) == [1]
        for number in range(1, count):
            await write(backend, number)
            await take(quick, 1)
        with pytest.raises(EventsMissedError) as caught:
            await slow.next()

        position = Position.parse(caught.value.position)
        assert position == slow.position
        assert quick.position.number == count - 1
        async with feed.follow(RUN, position) as again:
            assert await take(again, count - 1) == list(range(2, count + 1))


async def test_waiting_can_be_cancelled_without_losing_an_event(backend: Backend) -> None:
    async with BranchFeed(backend.log, backend.bus) as feed, feed.follow(RUN, None) as follower:
        for number in range(5):
            waiting = asyncio.create_task(follower.next())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await write(backend, number)
            assert await take(follower, 1) == [number + 1]


async def test_what_was_written_while_the_bus_was_away_is_read_when_it_is_back(
    backend: Backend,
) -> None:
    counted = Counted(backend)
    lost = _Losing(counted)
    async with BranchFeed(counted, lost) as feed, feed.follow(RUN, None) as follower:
        counted.deaf = True
        lost.lose.set()
        await until(lambda: _more_than(counted, 1))
        await write(backend, 0, 1)
        counted.deaf = False

        assert await take(follower, 2) == [1, 2]


async def _more_than(counted: Counted, number: int) -> bool:
    return counted.subscriptions > number


class _Losing:
    """A bus whose first subscription can be lost."""

    def __init__(self, bus: Counted) -> None:
        self._bus = bus
        self.lose = asyncio.Event()

    async def publish(self, topic: str, event: Event) -> None:
        await self._bus.publish(topic, event)

    async def subscribers(self, topic: str) -> int:
        return await self._bus.subscribers(topic)

    def rings(self, inbox: str) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        return self._bus.rings(inbox)

    def subscribe(self, topic: str) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        return _LosingSubscription(self._bus.subscribe(topic), self.lose)


class _LosingSubscription(AbstractAsyncContextManager[AsyncIterator[Event]]):
    def __init__(
        self, real: AbstractAsyncContextManager[AsyncIterator[Event]], lose: asyncio.Event
    ) -> None:
        self._real = real
        self._lose = lose

    async def __aenter__(self) -> AsyncIterator[Event]:
        return self._until_lost(await self._real.__aenter__())

    async def __aexit__(self, *about: Any) -> None:
        self._lose = asyncio.Event()
        await self._real.__aexit__(*about)

    async def _until_lost(self, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        losing = asyncio.ensure_future(self._lose.wait())
        while True:
            event = asyncio.ensure_future(anext(events))
            await asyncio.wait({event, losing}, return_when=asyncio.FIRST_COMPLETED)
            if losing.done():
                event.cancel()
                await asyncio.gather(event, return_exceptions=True)
                self._lose.clear()
                raise SubscriptionLostError("lost by the test")
            yield event.result()


async def test_while_the_store_is_away_followers_wait_and_then_go_on(backend: Backend) -> None:
    counted = Counted(backend)
    async with BranchFeed(counted, counted) as feed, feed.follow(RUN, None) as follower:
        counted.away = True
        reads = counted.reads
        await write(backend, 0)
        await until(lambda: _read_since(counted, reads))
        counted.away = False

        assert await take(follower, 1) == [1]


async def _read_since(counted: Counted, reads: int) -> bool:
    return counted.reads > reads


async def test_positions_that_are_gone_are_an_error_at_once(backend: Backend) -> None:
    await write(backend, 0)
    async with BranchFeed(backend.log, backend.bus) as feed:
        with pytest.raises(EventsMissedError):
            async with feed.follow(RUN, Position("another-life", 1)):
                pass


async def test_followers_hear_of_it_when_the_store_loses_its_log(redis_url: str) -> None:
    url = f"{redis_url}{'&' if '?' in redis_url else '?'}namespace=lost-log"
    async with open_store(url) as backend, BranchFeed(backend.log, backend.bus) as feed:
        await write(backend, 0)
        async with feed.follow(RUN, None) as follower:
            keys = backend.log._client.keys  # type: ignore[attr-defined]
            client = backend.log._client  # type: ignore[attr-defined]
            found = await client.command("KEYS", f"{keys.prefix.replace('{', chr(92) + '{')}*")
            await client.command("DEL", *found)
            await write(backend, 1)

            with pytest.raises(EventsMissedError):
                await take(follower, 1)
        async with feed.follow(RUN, BEGINNING) as anew:
            assert await take(anew, 1) == [1]


async def test_without_a_bus_following_fails_instead_of_hanging(backend: Backend) -> None:
    counted = Counted(backend)
    counted.deaf = True
    async with BranchFeed(counted, counted, start_seconds=0.2) as feed:
        with pytest.raises(StoreUnreachableError):
            async with feed.follow(RUN, None):
                pass


async def test_a_branch_that_nobody_follows_is_forgotten(backend: Backend) -> None:
    async with BranchFeed(backend.log, backend.bus) as feed:
        async with feed.follow(RUN, None):
            assert len(feed._branches) == 1

        assert feed._branches == {}


def test_the_bell_has_one_topic_for_all_branches() -> None:
    assert LOG_TOPIC == "branches"
