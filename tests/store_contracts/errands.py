"""What all errands promise."""

from __future__ import annotations

import asyncio

from sayso.stores.backend import Backend
from sayso.testing.builders import until


class ErrandsContract:
    """The promises of ``Errands``. Subclasses provide the ``backend`` fixture."""

    async def test_an_errand_is_taken_when_it_is_due(self, backend: Backend) -> None:
        await backend.outbox.schedule("q", "later", seconds=60)
        await backend.outbox.schedule("q", "now ü")

        due = await backend.outbox.claim_scheduled("q", most=10, hold=30)

        assert list(due.names) == ["now ü"]
        assert due.next_in is not None
        assert 25 < due.next_in <= 30

    async def test_only_one_of_many_takes_an_errand(self, backend: Backend) -> None:
        await backend.outbox.schedule("q", "one")

        taken = await asyncio.gather(
            *(backend.outbox.claim_scheduled("q", most=10, hold=30) for _ in range(20))
        )

        assert [name for due in taken for name in due.names] == ["one"]

    async def test_what_is_not_done_in_time_comes_again(self, backend: Backend) -> None:
        await backend.outbox.schedule("q", "one")
        await backend.outbox.claim_scheduled("q", most=10, hold=0.01)

        async def again() -> bool:
            return list((await backend.outbox.claim_scheduled("q", most=10, hold=30)).names) == [
                "one"
            ]

        await until(again)

    async def test_what_is_done_does_not_come_again(self, backend: Backend) -> None:
        await backend.outbox.schedule("q", "one")
        await backend.outbox.claim_scheduled("q", most=10, hold=0)
        await backend.outbox.complete_scheduled("q", "one")

        due = await backend.outbox.claim_scheduled("q", most=10, hold=0)

        assert (list(due.names), due.next_in) == ([], None)

    async def test_queues_do_not_leak_into_each_other(self, backend: Backend) -> None:
        await backend.outbox.schedule("q", "one")

        assert (await backend.outbox.claim_scheduled("q2", most=10, hold=0)).names == []

    async def test_no_more_is_taken_than_was_asked_for(self, backend: Backend) -> None:
        for number in range(5):
            await backend.outbox.schedule("q", str(number))

        assert len((await backend.outbox.claim_scheduled("q", most=3, hold=30)).names) == 3
        assert len((await backend.outbox.claim_scheduled("q", most=3, hold=30)).names) == 2
