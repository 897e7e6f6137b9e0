"""What all budgets promise."""

from __future__ import annotations

import asyncio

from sayso.chats.budgets import Budget, Rate
from sayso.stores.backend import Backend

# Messages in these tests come within milliseconds; a busy machine may need a little longer.
_ABOUT = 0.5


def _is_about(seconds: float, wanted: float) -> bool:
    return wanted - _ABOUT < seconds <= wanted


class BudgetsContract:
    """The promises of ``Budgets``. Subclasses provide the ``backend`` fixture."""

    async def test_messages_within_a_budget_go_at_once(self, backend: Backend) -> None:
        chat = Budget("chat", Rate(3, 60))

        assert [await backend.budgets.reserve([chat]) for _ in range(3)] == [0, 0, 0]

    async def test_the_others_go_one_after_the_other_as_their_budget_allows(
        self, backend: Backend
    ) -> None:
        chat = Budget("chat", Rate(2, 60))
        waits = [await backend.budgets.reserve([chat]) for _ in range(6)]

        assert waits[:2] == [0, 0]
        assert all(_is_about(wait, 60) for wait in waits[2:4])
        assert all(_is_about(wait, 120) for wait in waits[4:])

    async def test_no_two_callers_get_the_same_moment(self, backend: Backend) -> None:
        chat = Budget("chat", Rate(1, 10))
        waits = await asyncio.gather(*(backend.budgets.reserve([chat]) for _ in range(20)))

        assert sorted(round(wait / 10) for wait in waits) == list(range(20))

    async def test_a_budget_holds_up_no_other(self, backend: Backend) -> None:
        for _ in range(3):
            await backend.budgets.reserve([Budget("one chat", Rate(1, 60))])

        assert await backend.budgets.reserve([Budget("another chat", Rate(1, 60))]) == 0

    async def test_a_message_keeps_all_of_its_budgets(self, backend: Backend) -> None:
        chat, group = Budget("chat", Rate(1, 10)), Budget("group", Rate(2, 60))
        waits = [await backend.budgets.reserve([chat, group]) for _ in range(4)]

        assert waits[0] == 0
        assert _is_about(waits[1], 10)
        assert _is_about(waits[2], 60)
        assert _is_about(waits[3], 70)

    async def test_a_wait_for_one_budget_leaves_the_time_until_then_to_others(
        self, backend: Backend
    ) -> None:
        everything = Budget("everything", Rate(1, 1))
        slow, quick = Budget("slow", Rate(1, 600)), Budget("quick", Rate(1, 1))
        await backend.budgets.reserve([slow, everything])
        assert _is_about(await backend.budgets.reserve([slow, everything]), 600)

        assert _is_about(await backend.budgets.reserve([quick, everything]), 1)

    async def test_a_moment_that_is_taken_already_counts_for_those_before_it(
        self, backend: Backend
    ) -> None:
        everything = Budget("everything", Rate(1, 10))
        slow, other = Budget("slow", Rate(1, 600)), Budget("other", Rate(1, 585))
        for _ in range(2):
            await backend.budgets.reserve([slow, everything])
        assert _is_about(await backend.budgets.reserve([other, everything]), 10)

        # The next one of its own would be at 595, too close to the one at 600.
        assert _is_about(await backend.budgets.reserve([other, everything]), 610)

    async def test_what_was_used_up_comes_back(self, backend: Backend) -> None:
        chat = Budget("chat", Rate(1, 0.05))
        await backend.budgets.reserve([chat])
        await asyncio.sleep(0.06)

        assert await backend.budgets.reserve([chat]) == 0
