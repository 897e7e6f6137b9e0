"""What every log of branches promises."""

from __future__ import annotations

import asyncio

import pytest

from sayso.calls import RunRef
from sayso.errors import EventsMissedError, RequestNotFoundError
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode
from sayso.stores.backend import Backend
from sayso.stores.branch_log import BEGINNING, KEPT_BYTES, KEPT_EVENTS, PAGE_BYTES, Position
from sayso.stores.notices import BranchGrewEvent
from sayso.stores.topics import LOG_TOPIC
from sayso.testing.builders import a_request, a_response, soon

_RUN = RunRef("deploy-bot", "s-42", run_id="run-1")


async def _asked(
    backend: Backend, question_id: str, run: RunRef = _RUN, *, size: int = 0
) -> PermissionRequestEvent:
    """A request in the store and in its branch's log."""
    # Each character takes two bytes.
    request = a_request(question_id, run=run).model_copy(update={"description": "é" * (size // 2)})
    await backend.store.open(request, seconds=30, inbox="", book=None)
    assert await backend.log.append(run, question_id, "request", request)
    return request


class BranchLogContract:
    """The promises of ``BranchLog``. Subclasses provide the ``backend`` fixture."""

    async def test_events_are_read_in_the_order_they_were_written(self, backend: Backend) -> None:
        first = await _asked(backend, "q-1")
        second = await _asked(backend, "q-2")
        response = a_response(first)
        await backend.log.append(_RUN, "q-1", "ending", response)

        found = await backend.log.after(_RUN, BEGINNING, count=10)

        assert [decode(event.data) for event in found] == [first, second, response]
        assert [event.type for event in found] == [
            "PERMISSION_REQUEST",
            "PERMISSION_REQUEST",
            "PERMISSION_RESPONSE",
        ]
        assert [event.position.number for event in found] == [1, 2, 3]

    async def test_an_event_is_written_once_however_often_it_is_offered(
        self, backend: Backend
    ) -> None:
        request = await _asked(backend, "q-1")

        again = await asyncio.gather(
            *(backend.log.append(_RUN, "q-1", "request", request) for _ in range(10))
        )

        assert again == [False] * 10
        assert len(await backend.log.after(_RUN, BEGINNING, count=20)) == 1

    async def test_reading_goes_on_after_any_event(self, backend: Backend) -> None:
        for number in range(5):
            await _asked(backend, f"q-{number}")
        found = await backend.log.after(_RUN, BEGINNING, count=10)

        middle = await backend.log.after(_RUN, found[1].position, count=2)
        end = await backend.log.after(_RUN, found[4].position, count=2)

        assert middle == found[2:4]
        assert end == []
        assert await backend.log.end(_RUN) == found[4].position

    async def test_the_end_of_an_empty_log_is_a_position(self, backend: Backend) -> None:
        end = await backend.log.end(_RUN)
        request = await _asked(backend, "q-1")

        (event,) = await backend.log.after(_RUN, end, count=10)

        assert decode(event.data) == request
        assert Position.parse(str(event.position)) == event.position

    async def test_branches_do_not_leak_into_each_other(self, backend: Backend) -> None:
        others = [
            RunRef("deploy-bot", "s-42", "other"),
            RunRef("deploy-bot", "s-4", "2main"),
            RunRef("deploy-bots", "-42"),
        ]
        await _asked(backend, "q-1")

        for number, other in enumerate(others):
            assert await backend.log.after(other, BEGINNING, count=10) == []
            await _asked(backend, f"other-{number}", other)

        assert len(await backend.log.after(_RUN, BEGINNING, count=10)) == 1
        assert len(await backend.log.after(RunRef("deploy-bot", "s-42"), BEGINNING, count=9)) == 1

    async def test_events_that_are_no_longer_kept_are_an_error_and_never_left_out(
        self, backend: Backend
    ) -> None:
        for number in range(KEPT_EVENTS + 300):
            await _asked(backend, f"q-{number}")
        end = await backend.log.end(_RUN)

        oldest = (await backend.log.after(_RUN, BEGINNING, count=1))[0].position
        kept = end.number - oldest.number + 1

        assert KEPT_EVENTS <= kept < KEPT_EVENTS + 300
        before = Position(end.epoch, oldest.number - 1)
        assert (await backend.log.after(_RUN, before, count=1))[0].position == oldest
        with pytest.raises(EventsMissedError):
            await backend.log.after(_RUN, Position(end.epoch, oldest.number - 2), count=1)

    async def test_what_is_read_at_once_is_bounded_by_bytes_and_is_never_nothing(
        self, backend: Backend
    ) -> None:
        sizes = [100_000] * 7 + [2 * PAGE_BYTES] + [100] * 9
        for number, size in enumerate(sizes):
            await _asked(backend, f"q-{number}", size=size)
        counts, position = [], BEGINNING
        while found := await backend.log.after(_RUN, position, count=8):
            counts.append(len(found))
            position = found[-1].position

        # Up to the event that fills it, so that one is read however large it is.
        assert counts == [3, 3, 2, 8, 1]

    async def test_a_branch_with_large_events_keeps_fewer_of_them(self, backend: Backend) -> None:
        size = KEPT_BYTES // 8
        for number in range(4):
            await _asked(backend, f"small-{number}")
        for number in range(12):
            await _asked(backend, f"large-{number}", size=size)
        end = await backend.log.end(_RUN)

        oldest = (await backend.log.after(_RUN, BEGINNING, count=1))[0].position

        assert end.number - oldest.number + 1 == 7
        with pytest.raises(EventsMissedError):
            await backend.log.after(_RUN, Position(end.epoch, oldest.number - 2), count=1)
        # What came after it is there as it was.
        last = Position(end.epoch, end.number - 1)
        assert (await backend.log.after(_RUN, last, count=9))[0].position == end

    async def test_one_event_larger_than_all_that_is_kept_is_kept(self, backend: Backend) -> None:
        for number in range(2):
            await _asked(backend, f"q-{number}", size=KEPT_BYTES + 1)

        found = await backend.log.after(_RUN, BEGINNING, count=9)

        assert [event.position.number for event in found] == [2]

    async def test_a_position_of_another_life_of_the_log_or_ahead_of_it_is_an_error(
        self, backend: Backend
    ) -> None:
        await _asked(backend, "q-1")
        end = await backend.log.end(_RUN)

        for position in (Position("another", 1), Position(end.epoch, 2)):
            with pytest.raises(EventsMissedError, match=str(position)):
                await backend.log.after(_RUN, position, count=1)

    async def test_every_event_rings_for_its_branch(self, backend: Backend) -> None:
        async with backend.bus.subscribe(LOG_TOPIC) as bells:
            request = await _asked(backend, "q-1")
            await backend.log.append(_RUN, "q-1", "request", request)
            await backend.log.append(_RUN, "q-1", "ending", a_response(request))

            heard = [await soon(bells) for _ in range(2)]

        assert heard == [BranchGrewEvent.of(_RUN)] * 2

    async def test_open_questions_are_counted(self, backend: Backend) -> None:
        counts = [await backend.log.open_questions(_RUN)]
        first = await _asked(backend, "q-1")
        await _asked(backend, "q-2")
        counts.append(await backend.log.open_questions(_RUN))
        for _ in range(2):
            await backend.log.append(_RUN, "q-1", "ending", a_response(first))
        await backend.log.append(_RUN, "q-1", "outcome", a_response(first).observed)
        counts.append(await backend.log.open_questions(_RUN))

        assert counts == [0, 2, 1]

    async def test_a_question_that_is_not_in_the_store_is_not_written(
        self, backend: Backend
    ) -> None:
        with pytest.raises(RequestNotFoundError):
            await backend.log.append(_RUN, "q-1", "request", a_request("q-1"))

        assert await backend.log.after(_RUN, BEGINNING, count=10) == []
