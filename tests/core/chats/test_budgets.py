"""How rates are written, and what they allow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.chats.budgets import Rate, next_moment


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1/s", Rate(1, 1)),
        ("20/m", Rate(20, 60)),
        ("5/10s", Rate(5, 10)),
        ("100/2h", Rate(100, 7_200)),
    ],
)
def test_a_rate_is_read_and_written(text: str, rate: Rate) -> None:
    assert Rate.parse(text) == rate
    assert str(rate) == text


@pytest.mark.parametrize(
    "text", ["", "1", "0/s", "1/0s", "-1/s", "1/d", "1.5/s", "1 / s", "1/s\n", "²/s", "off"]
)
def test_what_is_no_rate_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rate; write 1/s, 20/m or 5/10s"):
        Rate.parse(text)


def test_the_next_moment_is_when_the_oldest_that_counts_is_over() -> None:
    rate = Rate(2, 10)

    assert next_moment(100, [(rate, [])]) == 100
    assert next_moment(100, [(rate, [95])]) == 100
    assert next_moment(100, [(rate, [91, 95])]) == 101
    assert next_moment(100, [(rate, [90, 95])]) == 100
    assert next_moment(100, [(rate, [95, 101, 111])]) == 111


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 20)), min_size=1, max_size=3),
    st.lists(st.integers(0, 15), min_size=1, max_size=40),
)
def test_in_no_stretch_of_time_are_there_more_than_the_rate_allows(
    rates: list[tuple[int, int]], gaps: list[int]
) -> None:
    now, used = 0, [(Rate(count, seconds), list[float]()) for count, seconds in rates]
    for gap in gaps:
        now += gap
        moment = next_moment(now, used)
        assert moment >= now
        for _, taken in used:
            taken.append(moment)
            taken.sort()

    for rate, taken in used:
        for begin in taken:
            within = [at for at in taken if begin <= at < begin + rate.seconds]
            assert len(within) <= rate.count
