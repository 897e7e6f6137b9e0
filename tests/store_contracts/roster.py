"""What every roster of desks promises."""

from __future__ import annotations

from sayso.stores.backend import Backend
from sayso.testing.builders import until


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
