"""Open questions are told of again: once across desks, in one message, until they end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest
from support.caller_double import CallingRoom, calling_room
from support.room import OPS

from sayso.calling.hours import Quiet
from sayso.calling.manners import Calling, Reach
from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock

TWICE = Calling(remind=(180.0, 480.0))
NIGHT = Quiet(time(22), time(7), ZoneInfo("Europe/Berlin"))
EVENING = datetime(2026, 1, 11, 5, 40, tzinfo=UTC)


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(datetime(2026, 1, 10, 12, tzinfo=UTC))


@pytest.fixture
async def backend(clock: StoppedClock) -> AsyncIterator[Backend]:
    async with memory_backend(clock=clock) as backend:
        yield backend


@pytest.fixture
async def room(backend: Backend, clock: StoppedClock) -> AsyncIterator[CallingRoom]:
    async with calling_room(backend, clock, TWICE) as room:
        yield room


async def test_an_open_question_is_told_of_again_after_each_of_the_times(
    room: CallingRoom,
) -> None:
    await room.ask()
    await room.later(seconds=179)
    early = list(room.caller.reminders)
    await room.later(seconds=1)
    first = list(room.caller.reminders)
    await room.later(minutes=5)
    await room.later(minutes=30)

    assert early == []
    ((place, waiting, called),) = first
    assert (place, called) == (OPS, ("slack:U0ALICE", "slack:U0BOB"))
    (one,) = waiting
    assert (one.title, one.asker) == ("deploy", "deploy-bot")
    assert one.card is not None
    assert one.link == f"https://chat.test/C0OPS/{one.card.message_id}"
    assert len(room.caller.reminders) == 2


async def test_a_reminder_is_no_second_card(room: CallingRoom) -> None:
    await room.ask()
    await room.later(minutes=9)

    assert [verb for verb, _, _ in room.chat.history] == ["show"]


async def test_a_reminder_ends_with_its_question(room: CallingRoom) -> None:
    await room.end(await room.ask())
    await room.later(minutes=9)

    assert room.caller.reminders == []
    assert not (await room.backend.outbox.claim_scheduled("calls", most=9, hold=1)).names


async def test_reminders_of_several_open_questions_of_one_place_are_joined(
    room: CallingRoom,
) -> None:
    for tool in ("deploy", "build", "release"):
        await room.ask(tool)
    await room.end(room.asked[1])
    await room.later(minutes=3)

    ((_, waiting, _),) = room.caller.reminders
    assert {one.title for one in waiting} == {"deploy", "release"}


async def test_a_reminder_that_the_platform_did_not_take_comes_again(room: CallingRoom) -> None:
    await room.ask()
    room.caller.error = DeliveryError("slack", "away")
    await room.later(minutes=3)
    room.caller.error = None
    await room.later(seconds=59)
    meanwhile = list(room.caller.reminders)
    await room.later(seconds=1)

    assert meanwhile == []
    assert len(room.caller.reminders) == 1


async def test_a_reminder_that_the_platform_refuses_is_given_up(room: CallingRoom) -> None:
    await room.ask()
    room.caller.error = DeliveryError("slack", "no", permanent=True)
    await room.later(minutes=3)
    room.caller.error = None
    await room.later(minutes=2)

    assert room.caller.reminders == []


async def test_a_reminder_survives_the_desks_that_noted_it(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(backend, clock, TWICE) as before:
        await before.ask()
    async with calling_room(backend, clock, TWICE) as after:
        await after.later(minutes=3)

    assert before.caller.reminders == []
    assert len(after.caller.reminders) == 1


async def test_nobody_who_asked_is_reminded(room: CallingRoom) -> None:
    await room.ask(requested_by="alice")
    await room.later(minutes=3)

    ((_, _, called),) = room.caller.reminders
    assert called == ("slack:U0BOB",)


async def test_each_approver_is_written_to_directly_once(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(backend, clock, Calling("dm")) as room:
        await room.ask()
        await room.later(seconds=0)
        await room.later(minutes=5)

    assert sorted(actor for actor, _ in room.caller.letters) == ["slack:U0ALICE", "slack:U0BOB"]
    assert {one.title for _, waiting in room.caller.letters for one in waiting} == {"deploy"}
    assert all(one.link for _, waiting in room.caller.letters for one in waiting)
    assert [verb for verb, _, _ in room.chat.history] == ["show"]


async def test_a_person_is_written_to_once_about_a_question_in_two_places(
    backend: Backend, clock: StoppedClock
) -> None:
    places = (OPS, Place("slack", "C0DEV"))
    async with calling_room(backend, clock, Calling("dm"), places=places) as room:
        await room.ask()
        await room.later(seconds=0)

    assert len(room.caller.letters) == 2


async def test_nobody_is_reminded_in_quiet_hours_and_everybody_is_at_their_end(
    backend: Backend, clock: StoppedClock
) -> None:
    clock.now = EVENING
    quiet = Calling(remind=(180.0, 480.0), quiet=NIGHT)
    async with calling_room(backend, clock, quiet) as room:
        await room.ask()
        await room.later(minutes=10)
        in_the_night = list(room.caller.reminders)
        await room.later(minutes=10)
        await room.later(minutes=20)

    assert in_the_night == []
    ((_, waiting, called),) = room.caller.reminders
    assert (len(waiting), called) == (1, ("slack:U0ALICE", "slack:U0BOB"))


async def test_whoever_is_written_to_is_written_to_at_the_end_of_their_quiet_hours(
    backend: Backend, clock: StoppedClock
) -> None:
    clock.now = EVENING
    reach = {name: Reach(quiet=NIGHT) for name in ("alice", "bob")}
    async with calling_room(backend, clock, Calling("dm"), reach=reach) as room:
        await room.ask()
        await room.later(minutes=10)
        in_the_night = list(room.caller.letters)
        await room.later(minutes=10)
        await room.later(seconds=0)

    assert in_the_night == []
    assert len(room.caller.letters) == 2
    assert room.caller.reminders == []
