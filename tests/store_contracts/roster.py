"""What every roster of desks promises."""

from __future__ import annotations

from sayso.stores.backend import Backend
from sayso.testing.builders import until


class RosterContract:
    """The promises of ``Roster``. Subclasses provide the ``backend`` fixture."""

    async def test_without_a_desk_nobody_is_at_work(self, backend: Backend) -> None:
        assert await backend.outbox.count_workers() == 0

    async def test_desks_are_counted_once_however_often_they_say_that_they_stay(
        self, backend: Backend
    ) -> None:
        for desk in ("a", "b", "a"):
            await backend.outbox.heartbeat(desk, seconds=30)

        assert await backend.outbox.count_workers() == 2

    async def test_a_desk_that_leaves_is_gone_at_once(self, backend: Backend) -> None:
        for desk in ("a", "b"):
            await backend.outbox.heartbeat(desk, seconds=30)

        for _ in range(2):
            await backend.outbox.remove_worker("a")

        assert await backend.outbox.count_workers() == 1

    async def test_a_desk_that_does_not_say_that_it_stays_is_gone_in_its_time(
        self, backend: Backend
    ) -> None:
        await backend.outbox.heartbeat("stays", seconds=0.02)
        await backend.outbox.heartbeat("dies", seconds=0.02)
        await backend.outbox.heartbeat("stays", seconds=30)

        async def is_alone() -> bool:
            return await backend.outbox.count_workers() == 1

        await until(is_alone)
