"""What every outbox, every roster of desks and all leases promise."""

# ruff: noqa: D102, S101  a test's name is its sentence, and it asserts

from __future__ import annotations

import asyncio

from sayso.chats.places import Place
from sayso.stores.backend import Backend
from sayso.stores.ports import Job
from sayso.testing.builders import PATIENCE_SECONDS, a_request, a_response, soon, until


class OutboxContract:
    """The promises of ``Outbox``. Subclasses provide the ``backend`` fixture."""

    async def test_an_opened_request_is_a_job_for_a_desk(self, backend: Backend) -> None:
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)

        async with backend.outbox.jobs("desk") as jobs:
            job = await soon(jobs)

        assert (job.kind, job.question_id) == ("ask", "q-1")

    async def test_a_desk_that_waits_gets_a_job_at_once(self, backend: Backend) -> None:
        async with backend.outbox.jobs("desk") as jobs:
            waiting = asyncio.ensure_future(anext(jobs))
            await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
            async with asyncio.timeout(PATIENCE_SECONDS):
                job = await waiting

        assert job.question_id == "q-1"

    async def test_an_ending_is_a_job_to_bring_its_cards_up_to_date(self, backend: Backend) -> None:
        request = a_request("q-1")
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle("q-1", a_response(request))
        await backend.store.settle("q-1", a_response(request, approved=False))

        async with backend.outbox.jobs("desk") as jobs:
            taken = [await soon(jobs) for _ in range(2)]

        assert [(job.kind, job.question_id) for job in taken] == [("ask", "q-1"), ("end", "q-1")]

    async def test_a_request_that_is_opened_twice_is_one_job(self, backend: Backend) -> None:
        request = a_request("q-1")
        for _ in range(2):
            await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.open(a_request("q-2"), seconds=30, inbox="", book=None)

        async with backend.outbox.jobs("desk") as jobs:
            taken = [(await soon(jobs)).question_id for _ in range(2)]

        assert taken == ["q-1", "q-2"]

    async def test_each_job_is_with_one_desk_at_a_time(self, backend: Backend) -> None:
        names = {f"q-{number}" for number in range(60)}
        taken: list[str] = []
        finished = asyncio.Event()

        async def work(desk: str) -> None:
            async with backend.outbox.jobs(desk) as jobs:
                async for job in jobs:
                    taken.append(job.question_id)
                    await backend.outbox.done(job)
                    if len(taken) >= len(names):
                        finished.set()

        desks = [asyncio.create_task(work(f"desk-{number}")) for number in range(3)]
        for name in sorted(names):
            await backend.store.open(a_request(name), seconds=30, inbox="", book=None)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await finished.wait()
        for desk in desks:
            desk.cancel()
        await asyncio.gather(*desks, return_exceptions=True)

        assert sorted(taken) == sorted(names)

    async def test_a_job_that_is_done_does_not_come_again(self, backend: Backend) -> None:
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
        async with backend.outbox.jobs("first") as jobs:
            await backend.outbox.done(await soon(jobs))

        await backend.store.open(a_request("q-2"), seconds=30, inbox="", book=None)
        async with backend.outbox.jobs("second") as jobs:
            job = await soon(jobs)

        assert job.question_id == "q-2"

    async def test_a_job_can_be_done_twice(self, backend: Backend) -> None:
        await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)

        async with backend.outbox.jobs("desk") as jobs:
            job = await soon(jobs)
            for _ in range(2):
                await backend.outbox.done(job)

    async def test_what_a_desk_did_not_finish_goes_to_the_others_at_once(
        self, backend: Backend
    ) -> None:
        unfinished: Job
        async with backend.outbox.jobs("waiting") as others:
            async with backend.outbox.jobs("leaving") as jobs:
                await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)
                unfinished = await soon(jobs)
            job = await soon(others)

        assert (job.kind, job.question_id) == (unfinished.kind, unfinished.question_id)


class LeasesContract:
    """The promises of ``Leases``. Subclasses provide the ``backend`` fixture."""

    async def test_a_ping_returns_when_the_store_answers(self, backend: Backend) -> None:
        await backend.leases.ping()

    async def test_at_most_one_owner_has_a_lease(self, backend: Backend) -> None:
        held = [await backend.leases.hold("poll", owner, seconds=30) for owner in "abc"]

        assert held == [True, False, False]

    async def test_the_owner_keeps_its_lease(self, backend: Backend) -> None:
        await backend.leases.hold("poll", "a", seconds=0.05)

        assert await backend.leases.hold("poll", "a", seconds=30)
        await asyncio.sleep(0.1)  # the first term is over, the second is not
        assert not await backend.leases.hold("poll", "b", seconds=30)

    async def test_a_lease_that_is_not_kept_goes_to_another(self, backend: Backend) -> None:
        await backend.leases.hold("poll", "a", seconds=0.02)

        await until(lambda: backend.leases.hold("poll", "b", seconds=30))

        assert not await backend.leases.hold("poll", "a", seconds=30)

    async def test_leases_of_other_names_are_other_leases(self, backend: Backend) -> None:
        await backend.leases.hold("poll", "a", seconds=30)

        assert await backend.leases.hold("poll:2", "b", seconds=30)

    async def test_a_chat_that_did_not_move_is_where_it_was(self, backend: Backend) -> None:
        place = Place("telegram", "-1001", "7")

        assert await backend.leases.moved(place) == place

    async def test_a_chat_that_moved_is_found_with_its_topics(self, backend: Backend) -> None:
        await backend.leases.move(Place("telegram", "-1"), Place("telegram", "-1001"))

        moved = await backend.leases.moved(Place("telegram", "-1", "7"))

        assert moved == Place("telegram", "-1001", "7")
        assert await backend.leases.moved(Place("telegram", "-2")) == Place("telegram", "-2")


class RosterContract:
    """The promises of ``Roster``. Subclasses provide the ``backend`` fixture."""

    async def test_without_a_desk_nobody_is_at_work(self, backend: Backend) -> None:
        assert await backend.roster.count() == 0

    async def test_desks_are_counted_once_however_often_they_say_that_they_stay(
        self, backend: Backend
    ) -> None:
        for desk in ("a", "b", "a"):
            await backend.roster.join(desk, seconds=30)

        assert await backend.roster.count() == 2

    async def test_a_desk_that_leaves_is_gone_at_once(self, backend: Backend) -> None:
        for desk in ("a", "b"):
            await backend.roster.join(desk, seconds=30)

        for _ in range(2):
            await backend.roster.leave("a")

        assert await backend.roster.count() == 1

    async def test_a_desk_that_does_not_say_that_it_stays_is_gone_in_its_time(
        self, backend: Backend
    ) -> None:
        await backend.roster.join("stays", seconds=0.02)
        await backend.roster.join("dies", seconds=0.02)
        await backend.roster.join("stays", seconds=30)

        async def is_alone() -> bool:
            return await backend.roster.count() == 1

        await until(is_alone)


class DraftsContract:
    """The promises of ``Drafts``. Subclasses provide the ``backend`` fixture."""

    async def test_a_draft_is_read_as_it_was_kept(self, backend: Backend) -> None:
        await backend.drafts.keep("a", "first", seconds=30)
        await backend.drafts.keep("a", "ünd {}", seconds=30)

        assert await backend.drafts.read("a") == "ünd {}"
        assert await backend.drafts.read("b") is None

    async def test_only_one_of_many_takes_a_draft(self, backend: Backend) -> None:
        await backend.drafts.keep("a", "text", seconds=30)

        taken = await asyncio.gather(*(backend.drafts.take("a") for _ in range(20)))

        assert sorted(filter(None, taken)) == ["text"]
        assert await backend.drafts.read("a") is None

    async def test_a_draft_is_gone_when_its_time_is_over(self, backend: Backend) -> None:
        await backend.drafts.keep("a", "text", seconds=0.02)

        async def gone() -> bool:
            return await backend.drafts.read("a") is None

        await until(gone)
        assert await backend.drafts.take("a") is None
