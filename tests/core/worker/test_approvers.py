"""Groups of approvers: who is removed, who is only a guest, and what cannot be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection

import pytest
from support.chat_double import ChatDouble

from sayso.errors import DeliveryError, SubscriptionLostError
from sayso.events import Event
from sayso.stores.backend import Backend
from sayso.stores.protocols import Bus
from sayso.testing import a_request
from sayso.worker.authorization import (
    AGAIN_SECONDS,
    ASK_SECONDS,
    REMEMBER_SECONDS,
    Approvers,
    Authorization,
    GroupChanges,
)
from sayso.worker.routing import Route, Routes

CAROL, DAVE = "slack:U0CAROL", "slack:U0DAVE"
AWAY = DeliveryError("slack", "no answer")


class Time:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def chat() -> ChatDouble:
    chat = ChatDouble()
    chat.groups["oncall"] = {CAROL, DAVE}
    return chat


def approvers_of(chat: ChatDouble, time: Time, *names: str) -> Approvers:
    routes = Routes([Route((), approvers=names or ("slack:@oncall",))])
    return Approvers(routes, {"slack": chat}, clock=time)


@pytest.fixture
def approvers(chat: ChatDouble, time: Time) -> Approvers:
    return approvers_of(chat, time)


async def may(approvers: Approvers, actor: str = CAROL) -> bool:
    return await approvers.standing(actor, a_request()) is Authorization.APPROVER


async def test_members_removed_from_a_group_may_not_approve_after_a_minute(
    approvers: Approvers, chat: ChatDouble, time: Time
) -> None:
    assert await may(approvers)
    chat.groups["oncall"] = {DAVE}

    time.now += 59
    assert await may(approvers)
    time.now += 1
    assert not await may(approvers)
    assert await may(approvers, DAVE)


async def test_groups_that_cannot_be_read_any_more_have_nobody_after_a_minute(
    approvers: Approvers, chat: ChatDouble, time: Time
) -> None:
    await approvers.refresh()
    chat.fail("members", *[AWAY] * 3)

    await approvers.refresh()
    time.now += 59
    assert await may(approvers)
    time.now += 1
    assert not await may(approvers)


async def test_a_failed_refresh_does_not_make_old_members_count_longer(
    approvers: Approvers, chat: ChatDouble, time: Time
) -> None:
    await approvers.refresh()
    time.now += AGAIN_SECONDS
    chat.fail("members", *[AWAY] * 2)
    await approvers.refresh()

    time.now += REMEMBER_SECONDS - AGAIN_SECONDS
    assert not await may(approvers)


async def test_a_group_is_read_again_before_it_is_forgotten(chat: ChatDouble, time: Time) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        time.now += seconds
        if len(pauses) > 3:
            raise asyncio.CancelledError

    routes = Routes([Route((), approvers=("slack:@oncall",))])
    approvers = Approvers(routes, {"slack": chat}, clock=time, pause=pause)
    with pytest.raises(asyncio.CancelledError):
        await approvers.keep_read()
    chat.fail("members", AWAY)  # nobody reads it now

    assert await may(approvers)
    assert pauses == [AGAIN_SECONDS] * 4
    assert AGAIN_SECONDS < REMEMBER_SECONDS


async def test_a_group_that_failed_is_asked_again_after_a_moment_and_not_at_each_press(
    approvers: Approvers, chat: ChatDouble, time: Time
) -> None:
    chat.fail("members", AWAY)

    assert not await may(approvers)
    time.now += 4.9
    assert not await may(approvers)  # the double would answer now
    time.now += 0.2
    assert await may(approvers)


async def test_a_member_who_does_not_count_may_not_approve_unless_named(
    chat: ChatDouble, time: Time
) -> None:
    chat.guests = {CAROL}

    assert not await may(approvers_of(chat, time))
    assert await may(approvers_of(chat, time), DAVE)
    assert await may(approvers_of(chat, time, "slack:@oncall", CAROL))


async def test_who_somebody_is_is_remembered_for_a_minute(
    approvers: Approvers, chat: ChatDouble, time: Time
) -> None:
    assert await may(approvers)
    chat.guests = {CAROL}
    time.now += 59
    assert await may(approvers)
    assert chat.looked_up == [CAROL]

    time.now += 1
    for _ in range(3):
        assert not await may(approvers)
    assert chat.looked_up == [CAROL, CAROL]


async def test_somebody_who_cannot_be_looked_up_may_not_approve(
    approvers: Approvers, chat: ChatDouble, time: Time
) -> None:
    chat.fail("counts", AWAY)

    assert not await may(approvers)
    time.now += 5
    assert await may(approvers)


async def test_strangers_are_not_looked_up(approvers: Approvers, chat: ChatDouble) -> None:
    assert not await may(approvers, "slack:U0MALLORY")
    assert not await may(approvers, "telegram:4242")
    assert chat.looked_up == []


async def test_what_a_platform_tells_counts_at_once(approvers: Approvers, chat: ChatDouble) -> None:
    assert await may(approvers)
    chat.groups["oncall"] = set()
    approvers.forget("telegram")
    assert await may(approvers)

    approvers.forget("slack")

    assert not await may(approvers)


async def test_what_was_read_before_a_change_is_not_remembered_after_it(
    chat: ChatDouble, time: Time
) -> None:
    class Slow(ChatDouble):
        async def members(self, group: str) -> set[str]:
            before = set(self.groups[group])
            started.set()
            await go_on.wait()
            return before

    started, go_on = asyncio.Event(), asyncio.Event()
    slow = Slow()
    slow.groups["oncall"] = {CAROL}
    approvers = approvers_of(slow, time)
    reading = asyncio.create_task(approvers.refresh())
    await started.wait()
    slow.groups["oncall"] = set()
    approvers.forget("slack")
    go_on.set()
    await reading

    assert not await may(approvers)
    del chat


async def test_who_somebody_was_before_a_change_is_not_remembered_after_it(time: Time) -> None:
    class Slow(ChatDouble):
        async def counts_in_groups(self, actor: str) -> bool:
            counts = await super().counts_in_groups(actor)
            started.set()
            await go_on.wait()
            return counts

    started, go_on = asyncio.Event(), asyncio.Event()
    slow = Slow()
    slow.groups["oncall"] = {CAROL}
    approvers = approvers_of(slow, time)
    looking = asyncio.create_task(may(approvers))
    await started.wait()
    slow.guests = {CAROL}
    approvers.forget("slack")
    go_on.set()
    await looking

    assert not await may(approvers)


async def test_a_group_of_a_platform_that_is_not_there_has_nobody(time: Time) -> None:
    routes = Routes([Route((), approvers=("slack:@oncall",))])

    assert not await may(Approvers(routes, {}, clock=time))


async def test_all_desks_hear_that_members_were_removed(
    backend: Backend, chat: ChatDouble, time: Time
) -> None:
    here, there = approvers_of(chat, time), approvers_of(chat, time)
    assert await may(here)
    assert await may(there)
    listening = asyncio.create_task(GroupChanges(there, backend.bus).hear())
    chat.groups["oncall"] = {DAVE}

    while await may(there):
        await GroupChanges(here, backend.bus).tell("slack")
        await asyncio.sleep(0)

    assert not await may(here)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def test_a_desk_hears_again_after_its_bus_was_lost_and_works_without_it(
    chat: ChatDouble, time: Time
) -> None:
    class Broken:
        async def publish(self, topic: str, event: Event) -> None:
            raise SubscriptionLostError("away")

        def subscribe(self, topic: str) -> AsyncIterator[Event]:
            raise SubscriptionLostError("away")

    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise asyncio.CancelledError

    approvers = approvers_of(chat, time)
    bus: Bus = Broken()  # type: ignore[assignment]
    heard = GroupChanges(approvers, bus, pause=pause)
    assert await may(approvers)
    chat.groups["oncall"] = set()

    await heard.tell("slack")
    with pytest.raises(asyncio.CancelledError):
        await heard.hear()

    assert not await may(approvers)
    assert pauses == [1.0, 1.0]


async def test_without_groups_nothing_is_listened_to(chat: ChatDouble, time: Time) -> None:
    approvers = approvers_of(chat, time, CAROL)

    await GroupChanges(approvers, None).hear()  # type: ignore[arg-type]

    assert await may(approvers)


async def test_a_minute_counts_from_when_the_platform_was_asked(time: Time) -> None:
    class Slow(ChatDouble):
        async def members(self, group: str) -> Collection[str]:
            members = await super().members(group)
            time.now += 2
            return members

        async def counts_in_groups(self, actor: str) -> bool:
            counts = await super().counts_in_groups(actor)
            time.now += 2
            return counts

    slow = Slow()
    slow.groups["oncall"] = {CAROL}
    approvers = approvers_of(slow, time)
    await approvers.refresh()
    assert await may(approvers)
    asked_at = time.now - 2

    slow.guests = {CAROL}
    time.now = asked_at + 56
    await approvers.refresh()  # the group alone
    time.now = asked_at + 60
    assert not await may(approvers)

    slow.groups["oncall"], slow.guests = {CAROL}, set()
    approvers = approvers_of(slow, time)
    began = time.now
    await approvers.refresh()
    slow.groups["oncall"] = set()
    time.now = began + 60
    assert not await may(approvers)


@pytest.mark.parametrize("verb", ["members", "counts_in_groups"])
async def test_a_platform_that_does_not_answer_in_time_vouches_for_nobody(
    time: Time, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    chat = ChatDouble()
    chat.groups["oncall"] = {CAROL}
    setattr(chat, verb, forever)
    routes = Routes([Route((), approvers=("slack:@oncall",))])
    approvers = Approvers(routes, {"slack": chat}, clock=time, ask_seconds=0.01)

    for _ in range(3):
        time.now += 10
        assert not await may(approvers)
    assert ASK_SECONDS < 2  # Slack wants an answer within three
    assert caplog.text.count("was not said in time") == 1  # once a minute, however often


async def test_a_member_who_presses_again_and_again_is_in_the_log_once_a_minute(
    time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    chat = Unsaying()
    chat.groups["oncall"] = {CAROL}
    approvers = approvers_of(chat, time)

    for _ in range(5):
        time.now += 10
        assert not await may(approvers)

    assert caplog.text.count("cannot be looked up and may not approve") == 1
    assert f"(from {CAROL})" in caplog.text


class Unsaying(ChatDouble):
    """Knows its groups, and cannot say who somebody is."""

    async def counts_in_groups(self, actor: str) -> bool:
        del actor
        raise AWAY


async def forever(_: str) -> None:
    await asyncio.Event().wait()
