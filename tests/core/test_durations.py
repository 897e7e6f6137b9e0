"""Durations as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sayso.durations import duration_text, parse_duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5_400),
        ("1.5h", 5_400),
        ("7d", 604_800),
        (" 2s ", 2),
        ("300ms", 0.3),
        ("1s500ms", 1.5),
    ],
)
def test_a_duration_is_a_number_with_a_unit(written: str, seconds: int) -> None:
    assert parse_duration(written) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ("10", "10 has no unit, write 10s or 10m"),
        (600, "600 has no unit, write 600s or 600m"),
        ("soon", "write 90s, 10m, 1h30m or 7d"),
        ("", "write 90s, 10m, 1h30m or 7d"),
        ("-5m", "write 90s, 10m, 1h30m or 7d"),
        (True, "write 90s, 10m, 1h30m or 7d"),
        ("0s", "more than 0s"),
        ("31d", "at most 30d"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(written: object, fix: str) -> None:
    with pytest.raises(ValueError, match=fix):
        parse_duration(written)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (-4, "0s"), (59.6, "1m"), (581, "9m 41s"), (7_200, "2h"), (90_061, "1d 1h")],
)
def test_a_duration_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration_text(timedelta(seconds=seconds)) == text
