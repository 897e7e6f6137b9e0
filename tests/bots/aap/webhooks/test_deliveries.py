"""Every end of a request is told to its receiver, whatever fails in between."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from support.certificates import trusting
from support.deliveries import INSTANCE, START, Desk, an_end, at_work, next_in, nothing_waits, until
from support.hooks import HERE, KEY, REGISTRATION, Came, Hooks, hooks, leads_here

from sayso.stores.backend import Backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.aap.webhooks.deliveries import Deliveries
from sayso_bots.aap.webhooks.notification import Notification
from sayso_bots.aap.webhooks.progress import Progresses
from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.room import Room
from sayso_bots.aap.webhooks.sending import Sender


@pytest.fixture
def desk(certificate: Path, receiving: Hooks) -> Desk:
    return Desk(certificate, {INSTANCE: receiving.receiver})


def failing(hook: Hooks, *statuses: int, **headers: str) -> None:
    """Answer with these statuses, then take everything."""
    left = list(statuses)

    async def answer(came: Came) -> web.StreamResponse:
        status = left.pop(0) if left else 204
        return web.Response(status=status, headers=headers if status >= 300 else {})

    hook.answering = answer


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_any_2xx_ends_a_notification_and_it_says_which_request_ended(
    status: int, desk: Desk, receiving: Hooks
) -> None:
    failing(receiving, status)
    deliveries = desk.deliveries()

    async with at_work(deliveries):
        await deliveries.add(an_end())
        await receiving.until(1)
        await nothing_waits(desk)

    (came,) = receiving.events
    assert came.message == {
        "id": an_end().event_id,
        "type": "request.resolved",
        "instance_id": INSTANCE,
        "request_id": an_end().request_id,
        "created_at": "2026-03-01T12:00:00.000Z",
    }


async def test_each_try_has_the_same_bytes_and_a_signature_of_its_own(
    desk: Desk, receiving: Hooks
) -> None:
    failing(receiving, 500, 302, 404)
    deliveries = desk.deliveries()

    async with at_work(deliveries):
        await deliveries.add(an_end())
        for tries in range(1, 4):
            await receiving.until(tries)
            desk.now += await next_in(desk)
            deliveries.look()
        await receiving.until(4)
        await nothing_waits(desk)

    assert len({came.body for came in receiving.events}) == 1
    assert len({came.headers["webhook-id"] for came in receiving.events}) == 1


async def test_waits_double_from_under_five_seconds_and_end_after_a_week(
    desk: Desk, receiving: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    async def never(came: Came) -> web.StreamResponse:
        return web.Response(status=500)

    receiving.answering = never
    deliveries = desk.deliveries()
    waits: list[timedelta] = []

    with caplog.at_level(logging.WARNING):
        async with at_work(deliveries):
            await deliveries.add(an_end())
            while desk.now < START + timedelta(hours=168):
                await receiving.until(len(waits) + 1)
                waits.append(await next_in(desk))
                desk.now += waits[-1]
                deliveries.look()
            await nothing_waits(desk)

    assert [wait.total_seconds() for wait in waits[:4]] == [4, 8, 16, 32]
    assert max(waits) == timedelta(hours=1)
    assert desk.now == START + timedelta(hours=168)
    assert len(receiving.events) == len(waits)
    assert "is given up, after a week" in caplog.text


async def test_a_receiver_that_asks_for_time_gets_it(desk: Desk, receiving: Hooks) -> None:
    failing(receiving, 429, **{"Retry-After": "77"})
    deliveries = desk.deliveries()

    async with at_work(deliveries):
        await deliveries.add(an_end())
        await receiving.until(1)

        assert await next_in(desk) == timedelta(seconds=77)


async def test_a_replaced_receiver_gets_what_waits_at_once_and_not_what_was_delivered(
    desk: Desk, receiving: Hooks, certificate: Path
) -> None:
    failing(receiving, 204, 500)
    deliveries = desk.deliveries()

    async with hooks(certificate) as other, at_work(deliveries):
        await deliveries.add(an_end(1))
        await receiving.until(1)
        await nothing_waits(desk)
        await deliveries.add(an_end(2))
        await receiving.until(2)
        await next_in(desk)
        desk.receivers[INSTANCE] = Receiver(other.url, REGISTRATION, bytes(32))
        await deliveries.receiver_changed(INSTANCE)
        await other.until(1)
        await nothing_waits(desk)

        assert [came.body for came in other.events] == [receiving.events[1].body]
        assert (
            other.events[0].headers["webhook-signature"]
            != receiving.events[1].headers["webhook-signature"]
        )


async def test_what_fails_while_its_receiver_is_replaced_goes_to_the_new_one_at_once(
    desk: Desk, receiving: Hooks, certificate: Path
) -> None:
    go_on = asyncio.Event()

    async def slow(came: Came) -> web.StreamResponse:
        await go_on.wait()
        return web.Response(status=500)

    receiving.answering = slow
    deliveries = desk.deliveries()

    async with hooks(certificate) as other, at_work(deliveries):
        await deliveries.add(an_end())
        await receiving.until(1)
        desk.receivers[INSTANCE] = Receiver(other.url, REGISTRATION, KEY)
        await deliveries.receiver_changed(INSTANCE)
        go_on.set()
        await other.until(1)


async def test_what_is_under_way_when_its_receiver_is_replaced_is_not_tried_twice_at_once(
    desk: Desk, receiving: Hooks, certificate: Path
) -> None:
    go_on = asyncio.Event()

    async def slow(came: Came) -> web.StreamResponse:
        if len(receiving.events) == 2:
            await go_on.wait()
        return web.Response(status=500)

    receiving.answering = slow
    deliveries = desk.deliveries()

    async with hooks(certificate) as other, at_work(deliveries):
        await deliveries.add(an_end())
        await receiving.until(1)
        desk.now += await next_in(desk)
        deliveries.look()
        await receiving.until(2)
        desk.receivers[INSTANCE] = Receiver(other.url, REGISTRATION, KEY)
        await deliveries.receiver_changed(INSTANCE)
        assert await desk.waiting_for() == timedelta(seconds=30)
        assert other.events == []

        go_on.set()
        await other.until(1)
        await nothing_waits(desk)

    assert len(receiving.events) == 2


async def test_all_that_waits_for_a_receiver_is_woken_however_much_it_is(desk: Desk) -> None:
    late, deliveries = f"aap-late:{INSTANCE}", desk.deliveries()
    for number in range(1_234):
        await desk.errands.put("aap-notifications", an_end(number).name, seconds=3600)
        await desk.errands.put(late, an_end(number).name)

    await deliveries.receiver_changed(INSTANCE)

    due = await desk.errands.take("aap-notifications", most=2_000, hold=0)
    assert len(due.names) == 1_234
    assert (await desk.errands.take(late, most=1, hold=0)).next_in is None


async def test_a_notification_that_cannot_be_read_holds_up_no_other_and_is_tried_again(
    desk: Desk, receiving: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    odd = "as another version writes it"
    await desk.errands.put("aap-notifications", odd)
    deliveries = desk.deliveries()

    async with at_work(deliveries):
        await deliveries.add(an_end())
        await receiving.until(1)
        await until(lambda: "cannot be sent for now" in caplog.text)

        assert await next_in(desk) == timedelta(seconds=60)


async def test_with_no_receiver_any_more_what_waits_is_over(desk: Desk, receiving: Hooks) -> None:
    failing(receiving, 500)
    deliveries = desk.deliveries()

    async with at_work(deliveries):
        await deliveries.add(an_end())
        await receiving.until(1)
        desk.now += await next_in(desk)
        del desk.receivers[INSTANCE]
        deliveries.look()
        await nothing_waits(desk)

    assert len(receiving.events) == 1


async def test_what_was_delivered_is_not_delivered_again_when_it_is_added_once_more(
    desk: Desk, receiving: Hooks
) -> None:
    deliveries = desk.deliveries()

    async with at_work(deliveries):
        await deliveries.add(an_end())
        await receiving.until(1)
        await nothing_waits(desk)
        await deliveries.add(an_end())
        await nothing_waits(desk)

    assert len(receiving.events) == 1


async def test_one_process_tries_at_a_time(desk: Desk, receiving: Hooks) -> None:
    go_on = asyncio.Event()

    async def slow(came: Came) -> web.StreamResponse:
        await go_on.wait()
        return web.Response()

    receiving.answering = slow
    first, second = desk.deliveries(), desk.deliveries()

    async with at_work(first), at_work(second):
        await first.add(an_end())
        await receiving.until(1)
        for _ in range(3):
            desk.now += timedelta(seconds=9)
            second.look()
            first.look()
            await asyncio.sleep(0.05)
        go_on.set()
        await nothing_waits(desk)

    assert len(receiving.events) == 1


async def test_what_a_process_that_stops_had_under_way_is_due_at_once_for_the_next_one(
    desk: Desk, receiving: Hooks
) -> None:
    never = asyncio.Event()

    async def silent(came: Came) -> web.StreamResponse:
        if len(receiving.events) == 1:
            await never.wait()
        return web.Response()

    receiving.answering = silent
    first = desk.deliveries()
    async with at_work(first):
        await first.add(an_end())
        await receiving.until(1)

    async with at_work(desk.deliveries()):
        await receiving.until(2)
        await nothing_waits(desk)
    never.set()


async def test_a_process_that_dies_leaves_its_notification_to_another(
    desk: Desk, receiving: Hooks
) -> None:
    await desk.deliveries().add(an_end())
    await desk.errands.take("aap-notifications", most=1, hold=30.0)  # and never heard of again

    desk.now += timedelta(seconds=30)
    async with at_work(desk.deliveries()):
        await receiving.until(1)


async def test_a_slow_host_has_so_many_tries_at_once_and_holds_up_no_other(
    desk: Desk, receiving: Hooks, certificate: Path
) -> None:
    go_on = asyncio.Event()

    async def slow(came: Came) -> web.StreamResponse:
        await go_on.wait()
        return web.Response()

    receiving.answering = slow
    desk.room = Room(8, 3)
    deliveries = desk.deliveries()

    async with hooks(certificate) as other, at_work(deliveries):
        other_host = other.url.replace("hooks.", "elsewhere.")
        desk.receivers["another"] = Receiver(other_host, REGISTRATION, KEY)
        for number in range(20):
            await deliveries.add(an_end(number))
        await receiving.until(3)
        await deliveries.add(an_end(99, "another"))
        # The name is not in the certificate, so that it fails: but it is tried.
        await until(lambda: desk.errands._queues.get("aap-late:another"))
        assert receiving.most_at_once == 3

        go_on.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(receiving.events) < 20:
                desk.now += timedelta(seconds=1)
                deliveries.look()
                await asyncio.sleep(0.02)
    assert receiving.most_at_once == 3
    assert len({came.message["id"] for came in receiving.events}) == 20


async def test_a_notification_survives_in_every_store(
    backend: Backend, receiving: Hooks, certificate: Path
) -> None:
    now = datetime.now(UTC)
    ended = Notification(INSTANCE, an_end().request_id, now.isoformat(), "line-1")
    await backend.errands.put("aap-notifications", ended.name)

    class One:
        async def receiver(self, told: Notification) -> Receiver | None:
            return receiving.receiver

    failing(receiving, 503, **{"Retry-After": "0"})
    sender = Sender(HERE, trusting(certificate), resolve=leads_here)
    room = Room(4, 4)
    deliveries = Deliveries(
        One(),
        backend.errands,
        backend.watch,
        Progresses(backend.documents),
        sender,
        room,
        jitter=lambda: 0.0,
    )

    async with at_work(deliveries):
        await receiving.until(2)

    assert receiving.events[0].body == receiving.events[1].body


async def test_nothing_is_logged_of_a_receiver_but_its_host(
    desk: Desk, receiving: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    failing(receiving, 500)
    deliveries = desk.deliveries()

    with caplog.at_level(logging.DEBUG, logger="sayso_bots"):
        async with at_work(deliveries):
            await deliveries.add(an_end())
            await receiving.until(1)
            await next_in(desk)

    assert "a notification to hooks.example.com was not taken: it answered 500" in caplog.text
    assert "/aap/events" not in caplog.text
    assert "whsec" not in caplog.text
