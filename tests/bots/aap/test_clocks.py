"""The clocks of the bots and of the store differ: deadlines are the store's, for whoever asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from support.aap_room import MINUTE, AapRoom, aap_room, settings

from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock

MILLISECOND, SECOND = timedelta(milliseconds=1), timedelta(seconds=1)
SKEWS = [timedelta(days=-1), -3 * SECOND, 3 * SECOND, timedelta(days=1)]


@asynccontextmanager
async def room(skew: timedelta) -> AsyncIterator[tuple[AapRoom, StoppedClock]]:
    """Bots whose clock is so much ahead of the store's, and the store's clock."""
    stores = StoppedClock(datetime(2026, 11, 22, 12, tzinfo=UTC))
    bots = StoppedClock(stores() + skew)
    async with (
        memory_backend(clock=stores) as backend,
        aap_room(settings(approval_valid=2 * MINUTE), backend=backend, clock=bots) as opened,
    ):
        yield opened, stores


@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_an_approval_at_the_deadline_that_was_told_is_an_expiry(skew: timedelta) -> None:
    async with room(skew) as (opened, stores):
        request = await opened.asked(timeout="1m")
        told = datetime.fromisoformat(request["deadline_at"])
        stores.advance(told - stores())

        assert await opened.settled(request["id"]) == "expired"
        assert (await opened.get(request["id"])).json["status"] == "expired"


@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_an_approval_before_the_deadline_that_was_told_counts(skew: timedelta) -> None:
    async with room(skew) as (opened, stores):
        request = await opened.asked(timeout="1m")
        stores.advance(MINUTE - MILLISECOND)

        assert await opened.settled(request["id"]) == "approved"
        ended = (await opened.get(request["id"])).json

    assert ended["created_at"] <= ended["decision"]["decided_at"] < ended["deadline_at"]
    assert ended["deadline_at"] == request["deadline_at"]


@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_an_approval_is_used_as_long_as_was_told(skew: timedelta) -> None:
    async with room(skew) as (opened, stores):
        used, late = await opened.asked(), await opened.asked()
        for request in (used, late):
            await opened.settled(request["id"])
        decision = (await opened.get(late["id"])).json["decision"]
        until = datetime.fromisoformat(decision["expires_at"])

        stores.advance(until - MILLISECOND - stores())
        in_time = await opened.consume(used["id"])
        stores.advance(MILLISECOND)
        too_late = await opened.consume(late["id"])

    assert in_time.status == 200
    assert too_late.error == (409, "approval_expired")


class SteppingBack(StoppedClock):
    """A clock that is set back a second each time somebody has looked at it."""

    def __call__(self) -> datetime:
        self.now -= SECOND
        return self.now


async def test_a_clock_that_is_set_back_makes_no_deadline_later_than_was_told() -> None:
    stores = StoppedClock(datetime(2026, 11, 22, 12, tzinfo=UTC))
    async with (
        memory_backend(clock=stores) as backend,
        aap_room(backend=backend, clock=SteppingBack(stores())) as opened,
    ):
        request = await opened.asked(timeout="1m")
        record = await backend.store.get(request["id"])

    assert record is not None
    assert record.request.expires_at <= datetime.fromisoformat(request["deadline_at"])
