"""Whether anybody can see that a desk is at work."""

from __future__ import annotations

import pytest
from support.chat_double import ChatDouble, working

from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import RequestUnansweredError, StoreUnreachableError
from sayso.stores.memory import memory_backend
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.protocols import OpenLimits
from sayso.testing import a_request, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, attending

ROUTES = Routes([Route((Place("slack", "C0OPS"),))])


async def test_desks_are_on_the_roster_while_they_work() -> None:
    async with memory_backend() as backend:
        desks = [ApprovalWorker(backend, [ChatDouble()], ROUTES) for _ in range(2)]

        async def at_work(count: int) -> bool:
            return await backend.outbox.count_workers() == count

        async with working(desks[0]):
            await until(lambda: at_work(1))
            async with working(desks[1]):
                await until(lambda: at_work(2))
            assert await at_work(1)
        assert await at_work(0)


async def test_a_desk_that_names_no_limits_lifts_none() -> None:
    async with memory_backend() as backend:
        await backend.outbox.heartbeat("other", seconds=60, limits=OpenLimits(per_agent=1))

        async def both_work() -> bool:
            return await backend.outbox.count_workers() == 2

        async with working(ApprovalWorker(backend, [ChatDouble()], ROUTES)):
            await until(both_work)
            await backend.store.open(a_request(), seconds=60, inbox="", book=None)
            with pytest.raises(RequestUnansweredError):
                await backend.store.open(a_request(), seconds=60, inbox="", book=None)


class AwayRoster(MemoryOutbox):
    """The roster of a store that is away."""

    async def heartbeat(
        self, desk: str, *, seconds: float, limits: OpenLimits | None = None
    ) -> None:
        raise StoreUnreachableError("away")

    async def remove_worker(self, desk: str) -> None:
        raise StoreUnreachableError("away")

    async def count_workers(self) -> int:
        raise StoreUnreachableError("away")


async def test_a_store_that_is_away_keeps_no_desk_from_working() -> None:
    async with attending(AwayRoster(utc_now), "desk"):
        worked = True

    assert worked


class BrokenRoster(AwayRoster):
    """A roster with a bug that shows when a desk says a second time that it is there."""

    def __init__(self) -> None:
        super().__init__(utc_now)
        self._joined = 0

    async def heartbeat(
        self, desk: str, *, seconds: float, limits: OpenLimits | None = None
    ) -> None:
        self._joined += 1
        if self._joined > 1:
            raise RuntimeError("what nobody foresaw")


async def test_a_roster_with_a_bug_is_logged_and_keeps_no_desk_from_working(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def logged() -> bool:
        return "staying on the roster failed" in caplog.text

    async with attending(BrokenRoster(), "desk", again_after=0.001):
        await until(logged)

    assert "what nobody foresaw" in caplog.text
