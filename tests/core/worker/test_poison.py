"""A request that takes desks down is put aside after two tries; the others are not."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from support.chat_double import ChatDouble, working
from support.room import OPS
from support.timer import QuickTimer

from sayso.cards.card import Card, Ended
from sayso.chats.places import MessageRef, Place
from sayso.clock import utc_now
from sayso.errors import RequestNotFoundError, StoreUnreachableError
from sayso.events import Outcome, UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import Copy, Job, Record
from sayso.stores.redis import redis_backend
from sayso.stores.redis.keys import GROUP, Keys
from sayso.stores.redis.url import read_url
from sayso.testing import a_request, soon, until
from sayso.worker.poison_guard import PoisonedError, PoisonGuard
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

ROUTES = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
TAKEOVER = 1.0


class Deadly(ChatDouble):
    """A chat that kills whoever shows a card of the tool ``poison``."""

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        if any(card.body.title == "poison" for card in cards):
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().show(cards, place)


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url, takeover_after=TAKEOVER) as opened:
        yield opened


@pytest.fixture
def keys(store_url: str) -> Keys:
    return read_url(store_url).keys


@pytest.fixture
async def server(redis_url: str) -> AsyncIterator[Any]:
    async with Redis.from_url(redis_url) as client:
        yield client


async def asked(backend: Backend, tool: str = "bash") -> UserInputRequest:
    request = a_request(tool=tool)
    await backend.store.open(request, seconds=600, inbox="", book=None)
    return request


async def outcome_of(backend: Backend, request: UserInputRequest) -> Outcome | None:
    record = await backend.store.get(request.question_id)
    assert record is not None
    return record.ending.outcome if record.ending is not None else None


async def stands(backend: Backend, request: UserInputRequest) -> bool:
    record = await backend.store.get(request.question_id)
    return isinstance(record, Record) and any(copy.stands for copy in record.copies)


async def test_a_request_that_kills_two_desks_is_put_aside_and_the_others_are_shown(
    backend: Backend, store_url: str
) -> None:
    poison = await asked(backend, "poison")
    innocent = [await asked(backend) for _ in range(3)]

    async def a_process() -> asyncio.subprocess.Process:
        here = Path(__file__).parents[2]
        path = os.pathsep.join([str(here), *filter(None, sys.path)])
        return await asyncio.create_subprocess_exec(
            sys.executable, __file__, store_url, env={**os.environ, "PYTHONPATH": path}
        )

    for _ in range(2):
        process = await a_process()
        assert await process.wait() == -signal.SIGKILL
    third = await a_process()
    try:
        await until(lambda: outcome_of(backend, poison))
        for request in innocent:
            await until(lambda request=request: stands(backend, request))  # type: ignore[misc]
        assert third.returncode is None
    finally:
        third.kill()
        await third.wait()

    assert await outcome_of(backend, poison) is Outcome.UNDELIVERABLE
    assert [await outcome_of(backend, request) for request in innocent] == [None] * 3


async def test_jobs_that_desks_died_with_but_not_over_are_shown(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await a_group(backend)
    request = await asked(backend)
    await die_with_jobs(server, keys, times=5)

    chat = ChatDouble()
    async with working(ApprovalWorker(backend, [chat], ROUTES, timer=QuickTimer())):
        await until(lambda: stands(backend, request))

    assert await outcome_of(backend, request) is None


async def test_a_job_says_how_many_desks_had_it(backend: Backend, server: Any, keys: Keys) -> None:
    await a_group(backend)
    await asked(backend)
    async with backend.outbox.jobs("living") as jobs:
        assert (await soon(jobs)).tries == 1
    for times in (1, 2):
        await die_with_jobs(server, keys, times=times)
        async with backend.outbox.jobs("living") as jobs:
            # It is put into the outbox anew by a desk that leaves in peace.
            assert (await soon(jobs)).tries == times + 1


async def test_a_request_that_took_a_desk_down_is_worked_on_alone(
    backend: Backend, server: Any, keys: Keys
) -> None:
    at_once: list[int] = []

    class Watched(ChatDouble):
        under_way = 0

        async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
            self.under_way += 1
            at_once.append(self.under_way)
            await asyncio.sleep(0.01)
            self.under_way -= 1
            return await super().show(cards, place)

    await a_group(backend)
    requests = [await asked(backend) for _ in range(4)]
    await die_with_jobs(server, keys, times=1)

    places = [Place("slack", f"C{number}") for number in range(3)]
    routes = Routes([Route(tuple(places))])
    async with working(ApprovalWorker(backend, [Watched()], routes, timer=QuickTimer())):
        for request in requests:
            await until(lambda request=request: stands(backend, request))  # type: ignore[misc]

    assert set(at_once) == {1}


async def test_a_request_that_took_a_desk_down_shares_its_message_with_no_other(
    backend: Backend, server: Any, keys: Keys
) -> None:
    chat = ChatDouble()
    await a_group(backend)
    requests = [await asked(backend) for _ in range(3)]
    await die_with_jobs(server, keys, times=1)

    options = WorkerOptions(bundle_window=timedelta(seconds=1))
    async with working(ApprovalWorker(backend, [chat], ROUTES, options, timer=QuickTimer())):
        for request in requests:
            await until(lambda request=request: stands(backend, request))  # type: ignore[misc]

    assert len(chat.cards) == 3


async def test_an_ending_that_takes_desks_down_leaves_no_button_alive(
    backend: Backend, server: Any, keys: Keys
) -> None:
    chat = ChatDouble()
    await a_group(backend)
    request = await asked(backend, "poison")
    copy = Copy("handle", request.question_id, OPS)
    await backend.copies.issue(copy)
    await backend.copies.mark(copy.at(MessageRef(OPS, "1")))
    await backend.store.settle(request.question_id, request.cancelled(at=utc_now()))
    await die_with_jobs(server, keys, times=2)
    name = f"working on:{request.question_id}"
    await backend.key_value.acquire_lease(name, "a dead desk", seconds=60)

    async with working(ApprovalWorker(backend, [chat], ROUTES, timer=QuickTimer())):
        card = await chat.ended_card()

    assert card.body.title == "poison"
    assert card.body.content == ""


async def test_caution_leaves_a_note_only_while_it_works() -> None:
    job = Job("ask", "q-1", "1", tries=2)
    async with memory_backend() as backend:
        mine, other = (PoisonGuard(backend.key_value, desk) for desk in ("mine", "other"))
        with mine.with_job(job), other.with_job(job):
            async with mine.about("q-1"):
                with pytest.raises(PoisonedError, match="q-1"):
                    async with other.about("q-1"):
                        raise AssertionError("it went in")
            await asyncio.sleep(0.002)
            async with other.about("q-1"):
                pass
        assert not mine.suspects("q-1")


async def test_a_job_that_had_no_desk_before_is_not_suspected() -> None:
    async with memory_backend() as backend:
        caution = PoisonGuard(backend.key_value, "mine")
        with caution.with_job(Job("ask", "q-1", "1")):
            assert not caution.suspects("q-1")
            await backend.key_value.acquire_lease("working on:q-1", "other", seconds=60)
            async with caution.about("q-1"):
                pass


class Breaking(ChatDouble):
    """A chat with a bug: what it raises, for each verb."""

    def __init__(self, **bugs: int) -> None:
        super().__init__()
        self.bugs = bugs

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        self._break("show", cards)
        return await super().show(cards, place)

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        self._break("update", cards)
        await super().update(ref, cards)

    def _break(self, verb: str, cards: Sequence[Card]) -> None:
        if self.bugs.get(verb, 0) and cards[0].body.content:
            self.bugs[verb] -= 1
            raise RuntimeError("a bug")


@pytest.mark.parametrize("failures", [1, 2])
async def test_a_job_that_raises_has_two_tries(failures: int) -> None:
    async with memory_backend() as backend:
        request, chat = await asked(backend), Breaking(show=failures)

        async def is_decided() -> bool:
            return await stands(backend, request) or bool(await outcome_of(backend, request))

        async with working(ApprovalWorker(backend, [chat], ROUTES, timer=QuickTimer())):
            await until(is_decided)

        wanted = None if failures == 1 else Outcome.UNDELIVERABLE
        assert await outcome_of(backend, request) is wanted
        assert len(chat.cards) == 2 - failures


async def test_a_card_that_cannot_be_made_any_more_says_at_least_how_it_ended() -> None:
    async with memory_backend() as backend:
        request, chat = await asked(backend), Breaking(update=100)
        async with working(ApprovalWorker(backend, [chat], ROUTES, timer=QuickTimer())):
            await chat.card_where()
            await backend.store.settle(request.question_id, request.cancelled(at=utc_now()))
            card = await chat.ended_card()

    assert isinstance(card.state, Ended)
    assert (card.body.title, card.state.outcome, card.choices) == ("bash", "cancelled", ())


@pytest.mark.parametrize("error", [ValueError("damaged"), RequestNotFoundError("gone")], ids=repr)
async def test_a_job_whose_request_cannot_be_read_is_put_aside_also_after_an_outage(
    error: Exception,
) -> None:
    class Damaged:
        """A store whose requests cannot be read, and an outbox that is away for a moment."""

        def __init__(self, inner: Any) -> None:
            self._inner, self.is_away = inner, True

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        async def get(self, question_id: str) -> Record | None:
            del question_id
            raise error

        async def done(self, job: Job) -> None:
            if self.is_away:
                self.is_away = False
                raise StoreUnreachableError("away for a moment")
            await self._inner.done(job)

    async with memory_backend() as backend:
        await asked(backend)
        outbox: Any = backend.outbox
        store: Any = Damaged(backend.store)
        damaged = replace(backend, store=store, outbox=Damaged(outbox))

        async def is_empty() -> bool:
            return not outbox._waiting.qsize() and not outbox._taken

        async with working(ApprovalWorker(damaged, [ChatDouble()], ROUTES, timer=QuickTimer())):
            await until(is_empty)


async def a_group(backend: Backend) -> None:
    """Let the outbox have its consumer group."""
    async with backend.outbox.jobs("first") as jobs:
        request = await asked(backend)
        job = await soon(jobs)
        await backend.outbox.done(job)
        assert job.question_id == request.question_id


async def die_with_jobs(server: Any, keys: Keys, *, times: int) -> None:
    """Desk after desk takes everything and is never heard of again."""
    await server.xreadgroup(GROUP, "dead", {keys.jobs: ">"})
    for number in range(times - 1):
        await server.xautoclaim(keys.jobs, GROUP, f"dead {number}", 0)


async def work_until_killed(url: str) -> None:
    """A process of the bots with a deadly chat."""
    async with redis_backend(url, takeover_after=TAKEOVER) as backend:
        await ApprovalWorker(backend, [Deadly()], ROUTES).run()


if __name__ == "__main__":
    asyncio.run(work_until_killed(sys.argv[1]))
