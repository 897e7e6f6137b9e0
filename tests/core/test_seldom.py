"""Lines that a stranger can cause are said at once, then counted."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from sayso.seldom import ELSEWHERE, MOST_LINES, MOST_SOURCES, Seldom

LOG = logging.getLogger("sayso.seldom")
REFUSED = "a callback was refused"


class Minutes:
    """A clock that goes on when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def later(self, seconds: float, then: Callable[[], None]) -> None:
        assert seconds == 60
        self.waiting.append(then)

    def pass_one(self) -> None:
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            then()


@pytest.fixture
def minutes() -> Minutes:
    return Minutes()


@pytest.fixture
def seldom(minutes: Minutes) -> Seldom:
    return Seldom(LOG, later=minutes.later)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def test_a_line_is_said_at_once_and_then_once_a_minute_with_its_number(
    seldom: Seldom, minutes: Minutes, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5_000):
        seldom.say(REFUSED, "192.0.2.1")
    at_once = said(caplog)
    minutes.pass_one()
    seldom.say(REFUSED, "192.0.2.1")
    minutes.pass_one()

    assert at_once == ["a callback was refused (from 192.0.2.1)"]
    assert said(caplog)[1:] == [
        "a callback was refused (from 192.0.2.1), and 4999 more in the last minute",
        "a callback was refused (from 192.0.2.1), and 1 more in the last minute",
    ]


def test_each_kind_and_each_source_has_a_line_of_its_own(
    seldom: Seldom, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        seldom.say(REFUSED, "192.0.2.1")
        seldom.say(REFUSED, "192.0.2.2")
        seldom.say("a call cannot be read")

    assert said(caplog) == [
        "a callback was refused (from 192.0.2.1)",
        "a callback was refused (from 192.0.2.2)",
        "a call cannot be read",
    ]


def test_a_quiet_minute_forgets_the_line(
    seldom: Seldom, minutes: Minutes, caplog: pytest.LogCaptureFixture
) -> None:
    seldom.say(REFUSED, "192.0.2.1")
    minutes.pass_one()
    forgotten = len(seldom)
    seldom.say(REFUSED, "192.0.2.1")

    assert forgotten == 0
    assert said(caplog) == 2 * ["a callback was refused (from 192.0.2.1)"]


def test_many_sources_are_counted_together(
    seldom: Seldom, minutes: Minutes, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(10_000):
        seldom.say(REFUSED, f"source {number}")
    remembered = len(seldom)
    minutes.pass_one()

    assert remembered == MOST_SOURCES + 1
    assert len(said(caplog)) == MOST_SOURCES + 2
    others = 10_000 - MOST_SOURCES - 1
    assert said(caplog)[-1] == f"{REFUSED} (from {ELSEWHERE}), and {others} more in the last minute"


def test_a_source_that_came_once_makes_room_for_another(
    seldom: Seldom, minutes: Minutes, caplog: pytest.LogCaptureFixture
) -> None:
    for round_number in range(3):
        for number in range(MOST_SOURCES):
            seldom.say(REFUSED, f"source {round_number}-{number}")
        minutes.pass_one()

    assert len(said(caplog)) == 3 * MOST_SOURCES
    assert ELSEWHERE not in caplog.text


def test_what_is_remembered_is_bounded_whatever_the_lines_are(
    seldom: Seldom, minutes: Minutes, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(5 * MOST_LINES):
        seldom.say(f"kind {number}")
    remembered = len(seldom)
    minutes.pass_one()
    minutes.pass_one()

    assert remembered == MOST_LINES + 1
    assert len(said(caplog)) == MOST_LINES + 2
    assert len(seldom) == 0
