"""What all leases promise."""

from __future__ import annotations

import asyncio

from sayso.chats.places import Place
from sayso.stores.backend import Backend
from sayso.testing.builders import until


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
