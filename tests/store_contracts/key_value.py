"""Contract of key-value stores: texts, compare-and-set, leases and rate limits."""

from __future__ import annotations

import asyncio

import pytest

from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Place
from sayso.errors import ConfigError, InvalidCallError
from sayso.stores.backend import Backend
from sayso.stores.chat_moves import find_chat, note_chat_move
from sayso.testing.builders import until

# Messages in these tests come within milliseconds; a busy machine may need a little longer.
_ABOUT = 0.5
_KEY, _OTHER = "draft:a", "draft:b"


def _is_about(seconds: float, wanted: float) -> bool:
    return wanted - _ABOUT < seconds <= wanted


class KeyValueContract:
    """The promises of ``KeyValueStore``. Subclasses provide the ``backend`` fixture."""

    async def test_a_text_is_read_as_it_was_set_last(self, backend: Backend) -> None:
        await backend.key_value.set(_KEY, "first", seconds=30)
        await backend.key_value.set(_KEY, "ünd {}", seconds=30)

        assert await backend.key_value.get(_KEY) == "ünd {}"
        assert await backend.key_value.get(_OTHER) is None

    async def test_a_text_is_gone_when_its_time_is_over(self, backend: Backend) -> None:
        await backend.key_value.set(_KEY, "text", seconds=0.02)
        await backend.key_value.compare_and_set(_OTHER, None, "text", seconds=0.02)

        async def gone() -> bool:
            key_value = backend.key_value
            return await key_value.get(_KEY) is None and await key_value.get(_OTHER) is None

        await until(gone)

    @pytest.mark.parametrize("key", ["r:q-1", "lease:poll", "draft", "", "jobs"])
    async def test_a_key_of_something_else_is_refused(self, backend: Backend, key: str) -> None:
        with pytest.raises(ValueError, match="begins with none of"):
            await backend.key_value.get(key)
        with pytest.raises(ValueError, match="begins with none of"):
            await backend.key_value.set(key, "text", seconds=30)
        with pytest.raises(ValueError, match="begins with none of"):
            await backend.key_value.compare_and_set(key, None, "text", seconds=30)

    @pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e12])
    async def test_a_time_that_no_text_can_be_kept_for_is_refused(
        self, backend: Backend, seconds: float
    ) -> None:
        key_value = backend.key_value
        with pytest.raises(ConfigError, match="cannot be kept for"):
            await key_value.set(_KEY, "text", seconds=seconds)
        with pytest.raises(ConfigError, match="cannot be kept for"):
            await key_value.compare_and_set(_KEY, None, "text", seconds=seconds)
        with pytest.raises(ConfigError, match="cannot be kept for"):
            await key_value.acquire_lease("poll", "a", seconds=seconds)

        assert await key_value.get(_KEY) is None

    async def test_a_text_that_no_store_can_write_is_refused(self, backend: Backend) -> None:
        key_value, half = backend.key_value, "\ud800"
        with pytest.raises(InvalidCallError, match="surrogate"):
            await key_value.set(_KEY, half, seconds=30)
        with pytest.raises(InvalidCallError, match="surrogate"):
            await key_value.compare_and_set(_KEY, None, half, seconds=30)
        with pytest.raises(InvalidCallError, match="surrogate"):
            await key_value.compare_and_set(_KEY, half, "text", seconds=30)
        with pytest.raises(InvalidCallError, match="surrogate"):
            await key_value.acquire_lease("poll", half, seconds=30)

        assert await key_value.get(_KEY) is None

    async def test_only_one_of_many_changes_a_text(self, backend: Backend) -> None:
        swap = backend.key_value.compare_and_set
        assert await swap(_KEY, None, "0", seconds=30)

        swapped = await asyncio.gather(
            *(swap(_KEY, "0", str(number), seconds=30) for number in range(1, 21))
        )

        assert swapped.count(True) == 1
        assert await backend.key_value.get(_KEY) == str(swapped.index(True) + 1)

    async def test_a_text_that_is_there_is_not_set_anew(self, backend: Backend) -> None:
        swap = backend.key_value.compare_and_set
        await swap(_KEY, None, "first", seconds=30)

        assert not await swap(_KEY, None, "second", seconds=30)
        assert not await swap(_OTHER, "first", "second", seconds=30)
        assert await backend.key_value.get(_KEY) == "first"
        assert await backend.key_value.get(_OTHER) is None

    async def test_setting_the_same_once_more_changes_nothing(self, backend: Backend) -> None:
        await backend.key_value.compare_and_set(_KEY, None, "first", seconds=30)

        assert await backend.key_value.compare_and_set(_KEY, None, "first", seconds=30)
        assert await backend.key_value.get(_KEY) == "first"

    async def test_at_most_one_owner_has_a_lease(self, backend: Backend) -> None:
        held = [await backend.key_value.acquire_lease("poll", owner, seconds=30) for owner in "abc"]

        assert held == [True, False, False]

    async def test_the_owner_renews_its_lease(self, backend: Backend) -> None:
        await backend.key_value.acquire_lease("poll", "a", seconds=0.05)

        assert await backend.key_value.acquire_lease("poll", "a", seconds=30)
        await asyncio.sleep(0.1)  # the first term is over, the second is not
        assert not await backend.key_value.acquire_lease("poll", "b", seconds=30)

    async def test_a_lease_that_is_not_renewed_goes_to_another(self, backend: Backend) -> None:
        await backend.key_value.acquire_lease("poll", "a", seconds=0.02)

        await until(lambda: backend.key_value.acquire_lease("poll", "b", seconds=30))

        assert not await backend.key_value.acquire_lease("poll", "a", seconds=30)

    async def test_leases_of_other_names_are_other_leases(self, backend: Backend) -> None:
        await backend.key_value.acquire_lease("poll", "a", seconds=30)

        assert await backend.key_value.acquire_lease("poll:2", "b", seconds=30)

    async def test_a_chat_that_moved_is_found_with_its_topics(self, backend: Backend) -> None:
        key_value, place = backend.key_value, Place("telegram", "-1", "7")
        assert await find_chat(key_value, place) == place

        await note_chat_move(key_value, Place("telegram", "-1"), Place("telegram", "-1001"))

        assert await find_chat(key_value, place) == Place("telegram", "-1001", "7")
        assert await find_chat(key_value, Place("telegram", "-2")) == Place("telegram", "-2")


class RateContract:
    """The promises of ``KeyValueStore.reserve_rate``. Subclasses provide ``backend``."""

    async def test_messages_within_a_budget_go_at_once(self, backend: Backend) -> None:
        chat = Budget("chat", Rate(3, 60))

        assert [await backend.key_value.reserve_rate([chat]) for _ in range(3)] == [0, 0, 0]

    async def test_the_others_go_one_after_the_other_as_their_budget_allows(
        self, backend: Backend
    ) -> None:
        chat = Budget("chat", Rate(2, 60))
        waits = [await backend.key_value.reserve_rate([chat]) for _ in range(6)]

        assert waits[:2] == [0, 0]
        assert all(_is_about(wait, 60) for wait in waits[2:4])
        assert all(_is_about(wait, 120) for wait in waits[4:])

    async def test_no_two_callers_get_the_same_moment(self, backend: Backend) -> None:
        chat = Budget("chat", Rate(1, 10))
        waits = await asyncio.gather(*(backend.key_value.reserve_rate([chat]) for _ in range(20)))

        assert sorted(round(wait / 10) for wait in waits) == list(range(20))

    async def test_a_budget_holds_up_no_other(self, backend: Backend) -> None:
        for _ in range(3):
            await backend.key_value.reserve_rate([Budget("one chat", Rate(1, 60))])

        assert await backend.key_value.reserve_rate([Budget("another chat", Rate(1, 60))]) == 0

    async def test_a_message_keeps_all_of_its_budgets(self, backend: Backend) -> None:
        chat, group = Budget("chat", Rate(1, 10)), Budget("group", Rate(2, 60))
        waits = [await backend.key_value.reserve_rate([chat, group]) for _ in range(4)]

        assert waits[0] == 0
        assert _is_about(waits[1], 10)
        assert _is_about(waits[2], 60)
        assert _is_about(waits[3], 70)

    async def test_a_wait_for_one_budget_leaves_the_time_until_then_to_others(
        self, backend: Backend
    ) -> None:
        everything = Budget("everything", Rate(1, 1))
        slow, quick = Budget("slow", Rate(1, 600)), Budget("quick", Rate(1, 1))
        await backend.key_value.reserve_rate([slow, everything])
        assert _is_about(await backend.key_value.reserve_rate([slow, everything]), 600)

        assert _is_about(await backend.key_value.reserve_rate([quick, everything]), 1)

    async def test_a_moment_that_is_taken_already_counts_for_those_before_it(
        self, backend: Backend
    ) -> None:
        everything = Budget("everything", Rate(1, 10))
        slow, other = Budget("slow", Rate(1, 600)), Budget("other", Rate(1, 585))
        for _ in range(2):
            await backend.key_value.reserve_rate([slow, everything])
        assert _is_about(await backend.key_value.reserve_rate([other, everything]), 10)

        # The next one of its own would be at 595, too close to the one at 600.
        assert _is_about(await backend.key_value.reserve_rate([other, everything]), 610)

    async def test_what_was_used_up_comes_back(self, backend: Backend) -> None:
        chat = Budget("chat", Rate(1, 0.05))
        await backend.key_value.reserve_rate([chat])
        await asyncio.sleep(0.06)

        assert await backend.key_value.reserve_rate([chat]) == 0
