"""How old a word of the store's is, with clocks that need not agree."""

from __future__ import annotations

import pytest
from support.clock import Clock

from sayso.stores.clock import StoreClock


def test_nothing_is_recent_before_the_store_has_said_the_time() -> None:
    assert not StoreClock(Clock(1_000.0).seconds).is_recent(1_000.0)


@pytest.mark.parametrize("store_is_ahead", [-3_600.0, -2.0, 0.0, 2.0, 3_600.0])
@pytest.mark.parametrize(("age", "recent"), [(0.0, True), (0.9, True), (1.1, False), (60.0, False)])
def test_age_is_told_whatever_the_clocks_show(
    store_is_ahead: float, age: float, recent: bool
) -> None:
    ours = Clock(1_000.0)
    clock = StoreClock(ours.seconds)
    clock.seen(1_000.0 + store_is_ahead, asked_at=1_000.0)
    ours.pass_by(600)

    assert clock.is_recent(ours.seconds() + store_is_ahead - age) is recent


def test_a_slow_answer_makes_things_older_and_never_younger() -> None:
    ours = Clock(1_005.0)
    clock = StoreClock(ours.seconds)
    # Asked at 1000, answered at 1005: the store may have looked at its clock at any moment between.
    clock.seen(1_005.0, asked_at=1_000.0)

    assert not clock.is_recent(1_005.0)


def test_a_time_in_the_future_shows_that_a_clock_was_set_and_nothing_is_recent() -> None:
    ours = Clock(1_000.0)
    clock = StoreClock(ours.seconds)
    clock.seen(1_000.0, asked_at=1_000.0)

    assert not clock.is_recent(1_030.0)
    assert not clock.is_recent(1_000.0)


def test_after_forgetting_nothing_is_recent_until_the_store_says_the_time_again() -> None:
    clock = StoreClock(Clock(1_000.0).seconds)
    clock.seen(1_000.0, asked_at=1_000.0)
    clock.forget()

    assert not clock.is_recent(1_000.0)
    clock.seen(1_000.0, asked_at=1_000.0)
    assert clock.is_recent(1_000.0)
