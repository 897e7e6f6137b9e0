"""Refusals are noted beside the work of a desk, and never cost more than they are worth."""

from __future__ import annotations

from typing import cast

import pytest
from support.room import OPS

from sayso.errors import StoreUnreachableError
from sayso.events import UserInputRequest
from sayso.stores.protocols import Audit
from sayso.tasks import Background
from sayso.testing import a_request
from sayso.worker.activity_events import RejectedInteractions

BOB = "slack:U0BOB"


class Noted:
    """An audit that keeps who was noted, and may fail."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failures = 0

    async def refuse(self, question_id: str, refusal: str, *, by: str, **_: str) -> bool:
        del question_id, refusal
        self.asked.append(by)
        if self.failures:
            self.failures -= 1
            raise StoreUnreachableError("no Redis answers")
        return True


@pytest.fixture
def audit() -> Noted:
    return Noted()


@pytest.fixture
def background() -> Background:
    return Background("a desk")


@pytest.fixture
def presses(audit: Noted, background: Background) -> RejectedInteractions:
    return RejectedInteractions(cast("Audit", audit), background, None)


def late(presses: RejectedInteractions, request: UserInputRequest, by: str = BOB) -> None:
    presses.note(request, "late", by=by, place=str(OPS), choice="allow")


async def test_the_store_is_asked_once_however_often_somebody_presses(
    presses: RejectedInteractions, audit: Noted, background: Background
) -> None:
    request = a_request()
    for _ in range(50):
        late(presses, request)
        await background.settled()

    assert audit.asked == [BOB]


async def test_a_refusal_that_the_store_did_not_take_is_noted_when_it_comes_again(
    presses: RejectedInteractions, audit: Noted, background: Background
) -> None:
    request, audit.failures = a_request(), 1
    for _ in range(3):
        late(presses, request)
        await background.settled()

    assert audit.asked == [BOB, BOB]


async def test_a_hundred_refusals_are_noted_at_once_and_no_more(
    presses: RejectedInteractions, audit: Noted, background: Background
) -> None:
    request = a_request()
    everybody = [f"slack:U{number}" for number in range(150)]
    for one in everybody:
        late(presses, request, by=one)
    await background.settled()
    late(presses, request)
    await background.settled()

    assert audit.asked == [*everybody[:100], BOB]
