"""What every outbox promises."""

from __future__ import annotations

import asyncio

from sayso.stores.backend import Backend
from sayso.stores.protocols import Job
from sayso.testing.builders import PATIENCE_SECONDS, a_request, a_response, soon


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
