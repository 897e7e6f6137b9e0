"""What a notification is about is known for a day after it was delivered, given up, or unwanted."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web
from support.deliveries import INSTANCE, START, Desk, an_end, at_work, nothing_waits
from support.hooks import Came, Hooks

from sayso.stores.ports import Sequel
from sayso.testing import a_request
from sayso_bots.aap.requests import KEEP, QUEUE

DAY, WEEK = timedelta(days=1), timedelta(days=7)
SECOND = timedelta(seconds=1)


@pytest.fixture
def desk(certificate: Path, receiving: Hooks) -> Desk:
    return Desk(certificate, {INSTANCE: receiving.receiver})


async def ended(desk: Desk) -> None:
    """The request that the notification is about ends, at its deadline."""
    request = a_request(an_end().request_id)
    sequel = Sequel(QUEUE, KEEP)
    await desk.store.open(request, seconds=0, inbox="", book=None, sequel=sequel)
    await desk.store.settle(request.question_id, request.expired(at=desk.now))


async def is_known(desk: Desk) -> bool:
    return await desk.store.get(an_end().request_id) is not None


@pytest.mark.parametrize(
    "late",
    [WEEK - timedelta(minutes=1), WEEK, WEEK + DAY],
    ids=["delivered", "given up", "given up late"],
)
async def test_a_request_is_known_for_a_day_after_its_notification_was_delivered_or_given_up(
    desk: Desk, receiving: Hooks, late: timedelta
) -> None:
    await ended(desk)
    deliveries = desk.deliveries()
    await deliveries.add(an_end())
    desk.now = START + late

    async with at_work(deliveries):
        await nothing_waits(desk)

    assert len(receiving.events) == (1 if late < WEEK else 0)
    desk.now = START + late + DAY - SECOND
    assert await is_known(desk)
    desk.now = max(START + KEEP, START + late + DAY)
    assert not await is_known(desk)


async def test_a_request_whose_receiver_is_gone_is_known_for_a_day_from_then(desk: Desk) -> None:
    await ended(desk)
    desk.receivers.clear()
    deliveries = desk.deliveries()
    await deliveries.add(an_end())
    desk.now = START + KEEP - SECOND

    async with at_work(deliveries):
        await nothing_waits(desk)

    desk.now += DAY - SECOND
    assert await is_known(desk)


async def test_a_delivery_in_good_time_keeps_nothing_for_longer(
    desk: Desk, receiving: Hooks
) -> None:
    async def taken(came: Came) -> web.StreamResponse:
        return web.Response(status=204)

    receiving.answering = taken
    await ended(desk)
    deliveries = desk.deliveries()

    async with at_work(deliveries):
        await deliveries.add(an_end())
        await nothing_waits(desk)

    desk.now = START + KEEP - SECOND
    assert await is_known(desk)
    desk.now = START + KEEP
    assert not await is_known(desk)
