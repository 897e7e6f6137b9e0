"""When a notification is tried again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sayso_bots.aap.webhooks.pace import read_retry_after, seconds_until_next

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
def test_the_first_retry_comes_within_five_seconds(jitter: float) -> None:
    assert 1 < seconds_until_next(1, None, lambda: jitter) < 5


def test_each_wait_is_twice_as_long_up_to_an_hour_and_jitter_takes_up_to_half_of_it() -> None:
    longest = [seconds_until_next(tries, None, lambda: 1.0) for tries in range(1, 14)]
    shortest = [seconds_until_next(tries, None, lambda: 0.0) for tries in range(1, 14)]

    assert longest[:11] == [4.0 * 2**n for n in range(10)] + [3600.0]
    assert longest[11:] == [3600.0, 3600.0]
    assert shortest == [seconds / 2 for seconds in longest]
    assert seconds_until_next(10_000, None, lambda: 1.0) == 3600.0


def test_what_the_receiver_asks_for_is_the_least() -> None:
    assert seconds_until_next(1, 120.0, lambda: 0.0) == 120.0
    assert seconds_until_next(12, 1.0, lambda: 1.0) == 3600.0


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("99999999999999999999", 999999999.0),
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-7", None),
        ("7.5", None),
        ("٧", None),
        ("Sun, 99 Mar 2026 12:01:30 GMT", None),
        ("Sun, 01 Mar 2026 12:01:30", None),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(written: str | None, seconds: float | None) -> None:
    assert read_retry_after(written, NOW) == seconds
