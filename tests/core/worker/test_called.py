"""Whom a card calls when it is posted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest
from support.caller_double import calling_room
from support.chat_double import ChatDouble, press_on, working
from support.room import OPS, RUN

from sayso.calling.hours import Quiet
from sayso.calling.manners import Calling, Reach
from sayso.cards.called import NOBODY
from sayso.cards.card import Open
from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock, a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

NIGHT = Quiet(time(22), time(7), ZoneInfo("Europe/Berlin"))


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(datetime(2026, 1, 10, 12, tzinfo=UTC))


@pytest.fixture
async def backend(clock: StoppedClock) -> AsyncIterator[Backend]:
    async with memory_backend(clock=clock) as backend:
        yield backend


async def test_a_card_mentions_the_approvers_of_its_route_when_it_is_posted(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(backend, clock, Calling()) as room:
        await room.ask()

    call = room.card().call
    assert [(one.actor, one.name) for one in call.people] == [
        ("slack:U0ALICE", "alice"),
        ("slack:U0BOB", "bob"),
    ]
    assert (call.lead, call.quietly, call.note) == ("For", False, "")


async def test_the_mention_stays_while_the_card_is_open_and_goes_with_its_end(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(backend, clock, Calling()) as room:
        request = await room.ask()
        ref, card = await room.chat.card_where()
        await room.desk.press(press_on(ref, card, "more"))
        await room.settled()
        opened = room.chat.cards[ref]
        await room.end(request)
        ended = await room.chat.ended_card()

    assert opened.call == card.call != NOBODY
    assert ended.call == NOBODY


async def test_the_mention_stays_where_another_process_edits_the_open_card(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(backend, clock, Calling()) as room:
        await room.ask()
        ref, card = await room.chat.card_where()
        seen = []
        for desk, choice in ((room.desk, "more"), (room.other, "back"), (room.desk, "more")):
            await desk.press(press_on(ref, card, choice))
            await room.settled()
            seen.append(room.chat.cards[ref])

    assert [one.state for one in seen] == [Open(more=True), Open(), Open(more=True)]
    assert {one.call for one in seen} == {card.call}
    assert card.call != NOBODY


@pytest.mark.parametrize("notify", ["dm", "none"])
async def test_without_mentions_a_card_calls_nobody(
    backend: Backend, clock: StoppedClock, notify: str
) -> None:
    async with calling_room(backend, clock, Calling(notify)) as room:  # type: ignore[arg-type]
        await room.ask()

    assert room.card().call == NOBODY


async def test_an_approver_who_asked_is_not_called(backend: Backend, clock: StoppedClock) -> None:
    async with calling_room(backend, clock, Calling()) as room:
        await room.ask(requested_by="alice")

    assert [one.actor for one in room.card().call.people] == ["slack:U0BOB"]


async def test_whoever_asked_is_called_where_they_may_approve_it_themselves(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(
        backend, clock, Calling(), approvers=("alice",), self_approval=True
    ) as room:
        await room.ask(requested_by="alice")

    assert [one.actor for one in room.card().call.people] == ["slack:U0ALICE"]


async def test_people_who_are_away_are_not_called(backend: Backend, clock: StoppedClock) -> None:
    async with calling_room(backend, clock, Calling(), reach={"alice": Reach(away=True)}) as room:
        await room.ask()
        by_setting = [one.actor for one in room.card().call.people]
        room.caller.away = ["slack:U0BOB"]
        await room.ask("build")

    assert by_setting == ["slack:U0BOB"]
    assert room.card().call.people == ()


async def test_all_are_called_where_the_platform_does_not_say_who_is_away(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(backend, clock, Calling()) as room:
        room.caller.error = DeliveryError("slack", "away")
        await room.ask()

    assert len(room.card().call.people) == 2


async def test_a_group_is_called_as_one_unless_somebody_in_it_is_not_to_be(
    backend: Backend, clock: StoppedClock
) -> None:
    async with calling_room(backend, clock, Calling(), approvers=("slack:@oncall",)) as room:
        room.chat.groups["oncall"] = {"slack:U0ALICE", "slack:U0CAROL"}
        await room.ask()
        whole = [one.actor for one in room.card().call.people]
        await room.ask("build", requested_by="alice")

    assert whole == ["slack:@oncall"]
    assert [one.actor for one in room.card().call.people] == ["slack:U0CAROL"]


async def test_whoever_has_the_card_in_their_own_chat_is_not_mentioned_there(
    backend: Backend, clock: StoppedClock
) -> None:
    own = Place("slack", "U0ALICE")
    async with calling_room(backend, clock, Calling(), places=(own,)) as room:
        await room.ask()

    assert [one.actor for one in room.card().call.people] == ["slack:U0BOB"]


async def test_in_quiet_hours_of_the_route_a_card_is_silent_and_says_what_happens(
    backend: Backend, clock: StoppedClock
) -> None:
    clock.now = datetime(2026, 1, 10, 23, tzinfo=UTC)
    async with calling_room(backend, clock, Calling(quiet=NIGHT)) as room:
        await room.ask()

    call = room.card().call
    assert (call.people, call.quietly) == ((), True)
    assert call.note == (
        "Quiet hours until 07:00 CET: nobody is called. It waits, and expires as always."
    )


async def test_in_a_persons_quiet_hours_the_others_are_called(
    backend: Backend, clock: StoppedClock
) -> None:
    clock.now = datetime(2026, 1, 10, 23, tzinfo=UTC)
    async with calling_room(backend, clock, Calling(), reach={"alice": Reach(quiet=NIGHT)}) as room:
        await room.ask()

    call = room.card().call
    assert ([one.actor for one in call.people], call.quietly) == (["slack:U0BOB"], False)


async def test_a_platform_that_cannot_call_anybody_shows_its_cards_all_the_same(
    backend: Backend, clock: StoppedClock
) -> None:
    chat = ChatDouble()
    manner = Calling("dm", remind=(180.0,), quiet=NIGHT)
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",), calling=manner)])
    desk = ApprovalWorker(backend, [chat], routes, clock=clock)
    async with working(desk):
        request = a_request(run=RUN)
        await backend.store.open(request, seconds=60, inbox="", book=None)
        _, card = await chat.card_where()

    assert card.call == NOBODY
    assert not (await backend.outbox.claim_scheduled("calls", most=9, hold=1)).names
