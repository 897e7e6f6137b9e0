"""What follows on decisions: one that cannot be done holds up nothing, and is never lost."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.aap_room import AapRoom, aap_room

from sayso.errors import StoreUnreachableError, UnreadableEventError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.ports import Record, Store
from sayso.testing import StoppedClock
from sayso_bots.aap.afterwards import Afterwards
from sayso_bots.aap.credentials import Vault
from sayso_bots.aap.instances import Instances
from sayso_bots.aap.requests import QUEUE


class Odd:
    """Errors that reading a request ends in, by its id."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.errors: dict[str, Exception] = {}

    async def get(self, question_id: str) -> Record | None:
        """As the store does, where it can be read."""
        if (error := self.errors.get(question_id)) is not None:
            raise error
        return await self._store.get(question_id)

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


def at_work(room: AapRoom, backend: Backend) -> Afterwards:
    """The work of another process, on a store that is played."""
    instances = Instances(backend.documents, Vault(b"x" * 32), room.clock)
    return Afterwards(backend, instances, room.notifier)


async def ended(room: AapRoom, count: int) -> Sequence[str]:
    """Requests that have ended, the first to end first."""
    ids = [(await room.asked())["id"] for _ in range(count)]
    for request_id in ids:
        await room.settled(request_id)
        room.clock.advance(timedelta(seconds=1))
    return ids


async def due_in(room: AapRoom) -> float | None:
    """In how many seconds something is to be done."""
    return (await room.backend.errands.take(QUEUE, most=0, hold=0)).next_in


async def test_what_breaks_on_one_request_ends_nothing_and_holds_up_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with aap_room() as room:
        odd, good = await ended(room, 2)
        room.notifier.breaks_on = odd
        waits = []
        with caplog.at_level(logging.WARNING):
            for _ in range(9):
                await room.afterwards()
                waits.append(await due_in(room))
                room.clock.advance(timedelta(seconds=waits[-1] or 0))

        assert room.notifier.ended_ids == [good]
        assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
        assert "KeyError" in caplog.text
        room.notifier.breaks_on = ""
        await room.afterwards()

        assert room.notifier.ended_ids == [good, odd]
        assert await due_in(room) is None


async def test_a_record_that_only_another_version_reads_is_left_to_it() -> None:
    async with aap_room() as room:
        (request_id,) = await ended(room, 1)
        store = Odd(room.backend.store)
        store.errors[request_id] = UnreadableEventError("of a later version")
        older = at_work(room, replace(room.backend, store=store))  # type: ignore[arg-type]
        await older.once()
        assert await due_in(room) == 30

        room.clock.advance(timedelta(seconds=30))
        await room.afterwards()

    assert room.notifier.ended_ids == [request_id]


async def test_what_is_gone_is_done() -> None:
    async with aap_room() as room:
        await room.backend.errands.put(QUEUE, "a-request-of-last-month")
        await room.afterwards()

        assert await due_in(room) is None


async def test_what_was_taken_when_the_store_went_away_is_done_when_it_is_back() -> None:
    async with aap_room() as room:
        ids = await ended(room, 3)
        store = Odd(room.backend.store)
        store.errors[ids[1]] = StoreUnreachableError("away")
        work = at_work(room, replace(room.backend, store=store))  # type: ignore[arg-type]
        with pytest.raises(StoreUnreachableError):
            await work.once()
        assert room.notifier.ended_ids == [ids[0]]

        store.errors.clear()
        await work.once()

        assert room.notifier.ended_ids == list(ids)
        assert await due_in(room) is None


async def test_a_cell_that_is_away_holds_up_what_follows_on_no_other_decision() -> None:
    clock = StoppedClock(datetime(2026, 11, 22, 12, tzinfo=UTC))
    cells = open_store("memory://?cell=00 memory://?cell=01")
    async with cells as backend, aap_room(backend=backend, clock=clock) as room:
        ids = await ended(room, 3)
        store = Odd(backend.store)
        store.errors[ids[0]] = StoreUnreachableError("cell 01: away")
        work = at_work(room, replace(backend, store=store))  # type: ignore[arg-type]
        await work.once()

        assert sorted(room.notifier.ended_ids) == sorted(ids[1:])
        assert (await backend.errands.take(QUEUE, most=0, hold=0)).next_in is not None
