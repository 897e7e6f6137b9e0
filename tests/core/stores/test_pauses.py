"""The pauses before the store is tried again."""

from __future__ import annotations

from sayso.stores.pauses import LONGEST_SECONDS, Pause


class Slept:
    def __init__(self) -> None:
        self.pauses: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 6))


async def test_pauses_double_up_to_a_bound_and_begin_anew_when_things_go_well() -> None:
    slept = Slept()
    pause = Pause(sleep=slept, spread=lambda _low, _high: 1.0)

    for _ in range(6):
        await pause.take()
    pause.reset()
    await pause.take()

    assert slept.pauses == [0.05, 0.1, 0.2, 0.4, 0.4, 0.4, 0.05]


async def test_no_pause_is_longer_than_half_a_second_and_not_all_are_equal() -> None:
    slept, bounds = Slept(), []

    def widest(low: float, high: float) -> float:
        bounds.append((low, high))
        return high

    pause = Pause(sleep=slept, spread=widest)
    for _ in range(20):
        await pause.take()

    assert max(slept.pauses) == 0.5 >= LONGEST_SECONDS
    assert set(bounds) == {(0.75, 1.25)}
