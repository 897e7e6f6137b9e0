"""What every store promises to waiting processes and tidy desks."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sayso.calls import RunRef
from sayso.errors import RequestNotFoundError
from sayso.events import Outcome, Resolution
from sayso.stores.backend import Backend
from sayso.testing.builders import a_request, a_response, soon


class WatchContract:
    """The promises of ``Watch``. Subclasses provide the ``backend`` fixture."""

    async def test_a_look_tells_the_ended_from_the_open_and_leaves_out_the_unknown(
        self, backend: Backend
    ) -> None:
        ended, waiting = a_request(), a_request()
        response = a_response(ended)
        for request in (ended, waiting):
            await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(ended.question_id, response)

        seen = await backend.store.poll(
            [waiting.question_id, "nobody", ended.question_id], inbox="mine"
        )

        assert seen == {ended.question_id: response, waiting.question_id: None}

    async def test_the_open_requests_of_a_session_are_those_of_all_its_runs(
        self, backend: Backend
    ) -> None:
        runs = [RunRef("deploy-bot", "s-42", run_id=f"run-{n}") for n in range(2)]
        runs += [RunRef("deploy-bot", "s-42", "experiment")]
        strangers = [RunRef("deploy-bot", "s-4"), RunRef("deploy-bots", "-42")]
        mine = [a_request(run=run) for run in runs]
        ended = a_request(run=runs[0])
        for request in (*mine, ended, *(a_request(run=run) for run in strangers)):
            await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(ended.question_id, a_response(ended))

        found = await backend.store.list_requests(RunRef("deploy-bot", "s-42", "nowhere"))

        # Those that expire in the same millisecond come in any order.
        assert {one.request.question_id for one in found} == {one.question_id for one in mine}
        assert len(found) == len(mine)

    async def test_a_session_is_found_among_many_open_requests(self, backend: Backend) -> None:
        many = [RunRef("deploy-bot", f"s-{n % 7}") for n in range(1_500)]
        requests = [a_request(run=run) for run in many]
        await asyncio.gather(
            *(backend.store.open(one, seconds=30, inbox="", book=None) for one in requests)
        )

        found = await backend.store.list_requests(RunRef("deploy-bot", "s-3"))

        ids = {one.question_id for one in requests if one.run.session_id == "s-3"}
        assert {one.request.question_id for one in found} == ids
        assert len(found) == len(ids)

    async def test_a_look_at_nothing_sees_nothing(self, backend: Backend) -> None:
        assert await backend.store.poll([], inbox="mine") == {}

    async def test_after_a_look_the_inbox_is_rung(self, backend: Backend) -> None:
        request = a_request()
        response = a_response(request)
        await backend.store.open(request, seconds=30, inbox="first", book=None)

        async with (
            backend.bus.subscribe("inbox:first") as first,
            backend.bus.subscribe("inbox:second") as second,
        ):
            await backend.store.poll([request.question_id], inbox="second")
            settled = await backend.store.settle(request.question_id, response)

            assert await soon(first) == await soon(second) == response
        assert settled.heard == 2

    async def test_looking_twice_rings_once(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="mine", book=None)

        async with backend.bus.subscribe("inbox:mine"):
            for _ in range(2):
                await backend.store.poll([request.question_id], inbox="mine")
            settled = await backend.store.settle(request.question_id, a_response(request))

        assert settled.heard == 1

    async def test_requests_whose_time_is_over_are_ended(self, backend: Backend) -> None:
        overdue, waiting = a_request(source_name="researcher"), a_request()
        await backend.store.open(overdue, seconds=0, inbox="mine", book=None)
        await backend.store.open(waiting, seconds=30, inbox="mine", book=None)

        async with backend.bus.subscribe("inbox:mine") as rings:
            left = await backend.store.expire_due()
            rung = await soon(rings)
        seen = await backend.store.poll([overdue.question_id, waiting.question_id], inbox="")

        ending = seen[overdue.question_id]
        assert isinstance(ending, Resolution)
        assert ending.outcome is Outcome.EXPIRED
        assert ending.source_name == "researcher"
        assert ending == rung
        assert seen[waiting.question_id] is None
        assert left is not None
        assert 20 < left <= 30

    async def test_nothing_is_left_to_expire_when_all_have_ended(self, backend: Backend) -> None:
        answered, overdue = a_request(), a_request()
        await backend.store.open(answered, seconds=30, inbox="", book=None)
        await backend.store.open(overdue, seconds=0, inbox="", book=None)
        await backend.store.settle(answered.question_id, a_response(answered))

        assert await backend.store.expire_due() is None

    async def test_an_answer_is_not_replaced_by_an_expiry(self, backend: Backend) -> None:
        request = a_request()
        response = a_response(request)
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, response)
        await backend.store.shorten_deadline(request.question_id, 0)

        await backend.store.expire_due()

        assert await backend.store.poll([request.question_id], inbox="") == {
            request.question_id: response
        }

    async def test_many_overdue_requests_end_at_once(self, backend: Backend) -> None:
        requests = [a_request() for _ in range(600)]
        for request in requests:
            await backend.store.open(request, seconds=0, inbox="", book=None)

        left = await backend.store.expire_due()
        seen = await backend.store.poll([one.question_id for one in requests], inbox="")

        assert left is None
        outcomes = [end.outcome for end in seen.values() if isinstance(end, Resolution)]
        assert outcomes == [Outcome.EXPIRED] * 600

    async def test_a_shortened_request_expires_earlier(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=600, inbox="", book=None)
        # Whoever has read it before is told, too.
        assert await backend.store.get(request.question_id)

        expires_at = await backend.store.shorten_deadline(request.question_id, 30)
        left = await backend.store.expire_due()
        record = await backend.store.get(request.question_id)

        assert expires_at < datetime.now(UTC) + timedelta(seconds=60)
        assert record is not None
        assert record.request.expires_at == expires_at
        assert left is not None
        assert left <= 30

    async def test_shortening_never_lengthens(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)

        expires_at = await backend.store.shorten_deadline(request.question_id, 600)

        assert expires_at < datetime.now(UTC) + timedelta(seconds=60)

    async def test_a_request_shortened_to_nothing_takes_no_answer(self, backend: Backend) -> None:
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)

        await backend.store.shorten_deadline(request.question_id, 0)
        settled = await backend.store.settle(request.question_id, a_response(request))

        assert settled.ending.outcome is Outcome.EXPIRED

    async def test_shortening_an_unknown_request_is_an_error(self, backend: Backend) -> None:
        with pytest.raises(RequestNotFoundError, match="nobody"):
            await backend.store.shorten_deadline("nobody", 1)

    async def test_pending_are_the_open_requests_by_expiry(self, backend: Backend) -> None:
        for question_id, seconds in (("third", 90), ("ended", 20), ("first", 30), ("second", 60)):
            await backend.store.open(a_request(question_id), seconds=seconds, inbox="", book=None)
        await backend.store.settle("ended", a_response(a_request("ended")))

        waiting = await backend.store.list_requests()

        assert [one.request.question_id for one in waiting] == ["first", "second", "third"]
        assert [one.ending for one in waiting] == [None, None, None]

    async def test_what_a_session_asked_last_is_known_the_newest_first_and_not_what_asked_nobody(
        self, backend: Backend
    ) -> None:
        run, other = RunRef("deploy-bot", "s-asked"), RunRef("deploy-bot", "s-other")
        requests = [a_request(run=replace(run, run_id=f"r{n}")) for n in range(22)]
        for request in (*requests, a_request(run=other)):
            await backend.store.open(request, seconds=30, inbox="", book=None)
        decided = a_request(run=run)
        ending = a_response(decided)
        await backend.store.open(decided, seconds=30, inbox="", book=None, ending=ending)
        await backend.store.settle(requests[-1].question_id, a_response(requests[-1]))

        asked = await backend.store.list_recent(run)

        newest = [request.question_id for request in reversed(requests)]
        assert [request.question_id for request in asked] == newest[:20]
        assert await backend.store.list_recent(RunRef("deploy-bot", "s-none")) == []
