"""What comes together is done together: gathered by key, each told of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from support.bundle_room import Window

from sayso.tasks import Background
from sayso.worker.fan_out import Batcher
from sayso.worker.update_cards import Rounds, ended


class Scene:
    """What a Gathering was given to do, and a window that the test closes."""

    def __init__(self, **options: Any) -> None:
        self.window = Window()
        self.groups: list[tuple[str, list[int]]] = []
        self.gathering: Batcher[str, int] = Batcher(
            self._work,
            window=timedelta(milliseconds=300),
            background=Background("a group"),
            pause=self.window,
            **options,
        )

    async def _work(self, key: str, items: Sequence[int]) -> list[str | BaseException]:
        self.groups.append((key, list(items)))
        return [ValueError(f"{item} is odd") if item % 2 else f"done {item}" for item in items]

    def take(self, key: str, *items: int) -> list[asyncio.Task[str]]:
        return [asyncio.create_task(self.gathering.take(key, item)) for item in items]


async def _turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_what_comes_within_the_window_is_done_at_once_and_each_hears_of_its_own() -> None:
    gathering = Scene()
    first = gathering.take("a", 2)
    await _turns()
    others = gathering.take("a", 3, 4)
    await _turns()
    assert gathering.groups == []

    gathering.window.close()
    results = await asyncio.gather(*first, *others, return_exceptions=True)

    assert gathering.groups == [("a", [2, 3, 4])]
    assert gathering.window.waits == [0.3]
    assert (results[0], str(results[1]), results[2]) == ("done 2", "3 is odd", "done 4")


async def test_keys_gather_apart_and_what_comes_later_is_another_group() -> None:
    gathering = Scene()
    before = gathering.take("a", 2) + gathering.take("b", 4)
    await _turns()
    gathering.window.close()
    await asyncio.gather(*before)

    await asyncio.gather(*gathering.take("a", 6))

    assert gathering.groups == [("a", [2]), ("b", [4]), ("a", [6])]


async def test_a_full_group_goes_at_once_and_the_next_one_begins() -> None:
    gathering = Scene(most=2)

    done = await asyncio.gather(*gathering.take("a", 2, 4))
    left = gathering.take("a", 6)
    await _turns()

    assert done == ["done 2", "done 4"]
    assert gathering.groups == [("a", [2, 4])]
    gathering.window.close()
    assert await left[0] == "done 6"


async def test_who_stops_waiting_takes_nobody_along() -> None:
    gathering = Scene()
    impatient, patient = gathering.take("a", 2, 4)
    await _turns()

    impatient.cancel()
    gathering.window.close()

    assert await patient == "done 4"


async def test_work_that_fails_fails_for_all_of_its_group() -> None:
    async def fail(key: str, items: Sequence[int]) -> list[str | BaseException]:
        raise RuntimeError(f"{key} cannot be done")

    gathering: Batcher[str, int] = Batcher(
        fail, window=timedelta(microseconds=1), background=Background("a group")
    )

    results = await asyncio.gather(
        *(gathering.take("a", number) for number in (1, 2)), return_exceptions=True
    )

    assert [str(result) for result in results] == ["a cannot be done"] * 2


async def test_who_asks_before_a_round_begins_shares_it_and_who_asks_later_gets_the_next() -> None:
    rounds: Rounds[str, int] = Rounds()
    gate, began = asyncio.Event(), asyncio.Event()
    seen: list[int | None] = []

    async def work(begin: Any, last: int | None) -> int:
        begin()
        seen.append(last)
        began.set()
        await gate.wait()
        return len(seen)

    first = rounds.begin("a", work)
    await began.wait()
    later = [rounds.begin("a", work) for _ in range(5)]
    await _turns()
    gate.set()
    await asyncio.gather(first, *later)
    await rounds.begin("a", work)

    assert seen == [None, 1, None]


async def test_whoever_goes_away_leaves_a_round_to_the_others() -> None:
    rounds: Rounds[str, int] = Rounds()
    gate = asyncio.Event()

    async def work(begin: Any, _last: int | None) -> int:
        begin()
        await gate.wait()
        return 1

    shared = rounds.begin("a", work)
    waiting = [asyncio.create_task(ended([shared])) for _ in range(2)]
    await _turns()
    waiting[0].cancel()
    await _turns()
    gate.set()
    await waiting[1]

    assert waiting[0].cancelled()
    assert shared.done()
    assert not shared.cancelled()


async def test_of_several_rounds_the_first_that_fails_ends_the_wait() -> None:
    rounds: Rounds[str, int] = Rounds()
    gate = asyncio.Event()

    async def hang(begin: Any, _last: int | None) -> int:
        begin()
        await gate.wait()
        return 1

    async def fail(begin: Any, _last: int | None) -> int:
        begin()
        raise KeyError("a")

    begun = [rounds.begin("a", hang), rounds.begin("b", fail)]
    async with asyncio.timeout(10):
        with pytest.raises(KeyError):
            await ended(begun)
        assert not begun[0].done()
        gate.set()
        await ended(begun[:1])
        await ended(())
