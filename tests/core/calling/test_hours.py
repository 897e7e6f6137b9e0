"""Quiet hours by the clock of a zone."""

from __future__ import annotations

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from sayso.calling.hours import Quiet

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = Quiet(time(22), time(7), BERLIN)


@pytest.mark.parametrize(
    ("now", "until"),
    [
        (datetime(2026, 1, 10, 20, 59, tzinfo=UTC), None),
        (datetime(2026, 1, 10, 21, 0, tzinfo=UTC), datetime(2026, 1, 11, 6, tzinfo=UTC)),
        (datetime(2026, 1, 11, 5, 59, tzinfo=UTC), datetime(2026, 1, 11, 6, tzinfo=UTC)),
        (datetime(2026, 1, 11, 6, 0, tzinfo=UTC), None),
        # The clocks go forward in this night: seven o'clock comes an hour earlier.
        (datetime(2026, 3, 28, 22, 0, tzinfo=UTC), datetime(2026, 3, 29, 5, tzinfo=UTC)),
    ],
)
def test_a_night_is_quiet_until_its_morning_by_the_clock_of_its_zone(
    now: datetime, until: datetime | None
) -> None:
    assert NIGHT.until(now) == until


def test_hours_of_one_day_do_not_pass_midnight() -> None:
    lunch = Quiet(time(12), time(13), ZoneInfo("UTC"))

    assert lunch.until(datetime(2026, 1, 1, 12, 30, tzinfo=UTC)) == datetime(
        2026, 1, 1, 13, tzinfo=UTC
    )
    assert lunch.until(datetime(2026, 1, 1, 13, 0, tzinfo=UTC)) is None
    assert lunch.until(datetime(2026, 1, 1, 0, 0, tzinfo=UTC)) is None


def test_hours_without_an_end_are_refused() -> None:
    with pytest.raises(ValueError, match="another time"):
        Quiet(time(7), time(7), BERLIN)
