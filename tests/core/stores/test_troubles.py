"""What keeps failing is said at once, and then seldom."""

from __future__ import annotations

import logging

import pytest

from sayso.errors import StoreUnreachableError
from sayso.stores.troubles import AGAIN_AFTER_SECONDS, Troubles

AWAY, SLOW = StoreUnreachableError("away"), StoreUnreachableError("slow")


class Seconds:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def troubles(seconds: Seconds) -> Troubles:
    return Troubles(logging.getLogger("sayso.troubles"), seconds=seconds)


def test_the_same_trouble_is_said_once(
    troubles: Troubles, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(10):
        troubles.tell("cannot ask", AWAY)

    assert caplog.messages == ["cannot ask: away"]


def test_it_is_said_again_each_minute(
    troubles: Troubles, seconds: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    for seconds.now in (0.0, AGAIN_AFTER_SECONDS - 1, AGAIN_AFTER_SECONDS):
        troubles.tell("cannot ask", AWAY)

    assert caplog.messages == ["cannot ask: away"] * 2


def test_a_change_and_another_trouble_are_said_at_once(
    troubles: Troubles, caplog: pytest.LogCaptureFixture
) -> None:
    troubles.tell("cannot ask", AWAY)
    troubles.tell("cannot ask", SLOW)
    troubles.tell("cannot look", SLOW)

    assert caplog.messages == ["cannot ask: away", "cannot ask: slow", "cannot look: slow"]


def test_what_worked_in_between_is_news_when_it_fails(
    troubles: Troubles, caplog: pytest.LogCaptureFixture
) -> None:
    troubles.tell("cannot ask", AWAY)
    troubles.over("cannot ask")
    troubles.over("cannot look")
    troubles.tell("cannot ask", AWAY)

    assert caplog.messages == ["cannot ask: away"] * 2


def test_that_it_is_over_is_said_once_and_after_how_long(
    troubles: Troubles, seconds: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for seconds.now in (0.0, 40.0, 80.0):
        troubles.tell("cannot ask", AWAY)
    for seconds.now in (95.0, 96.0):
        troubles.over("cannot ask")

    assert caplog.messages == [*["cannot ask: away"] * 2, "over after 95 s: cannot ask"]


def test_only_an_unforeseen_error_has_its_trace(
    troubles: Troubles, caplog: pytest.LogCaptureFixture
) -> None:
    troubles.tell("cannot ask", AWAY)
    troubles.tell("cannot ask", RuntimeError("a bug"))

    assert [bool(record.exc_info) for record in caplog.records] == [False, True]
