"""Presses on cards that this desk posted, or heard of: one step in the store, and its checks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

import pytest
from redis.asyncio import Redis
from support.chat_double import ChatDouble, press_on, working
from support.counted import Counted
from support.room import OPS, ChatRoom

from sayso import CheckResult, Gate, RunRef, ToolCall
from sayso.cards.card import Card, Open
from sayso.chats.places import Answered, MessageRef
from sayso.desk.desk import Desk
from sayso.desk.routes import Route, Routes
from sayso.errors import DeliveryError, ReplayedCallbackError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.ports import Copies, Intake, Job, Outbox
from sayso.stores.redis import redis_backend
from sayso.stores.redis.url import read_url
from sayso.testing import until

CALL = ToolCall("bash", {"command": "terraform apply"})
ROUTES = Routes([Route((OPS,), approvers=("slack:U0ALICE", "slack:@oncall"))])


@dataclass
class Room(ChatRoom):
    """A room whose desk posted the cards itself or heard of them, and its looks at them."""

    copies: Counted
    poster: Desk

    async def shown(
        self, call: ToolCall = CALL
    ) -> tuple[asyncio.Task[CheckResult], MessageRef, Card]:
        """Ask about a call; its card when the desk has noted where it stands."""
        asked = await self.asked(call)
        await self.settled()
        await self.poster._background.settled()
        handle = asked[2].handle
        if self.poster is not self.desk and self.poster._delivery.shown(handle):
            await known(self.desk, handle)
        return asked

    async def question_id(self) -> str:
        return (await self.backend.watch.pending())[0].request.question_id


class NoJobs:
    """An outbox that never has a job for a desk, which others reach all the same."""

    def __init__(self, outbox: Outbox) -> None:
        self.have, self.done = outbox.have, outbox.done
        self._outbox = outbox

    @asynccontextmanager
    async def jobs(
        self, desk: str, intake: Intake | None = None
    ) -> AsyncIterator[AsyncIterator[Job]]:
        async with self._outbox.jobs(desk, intake):
            yield _nothing()


async def _nothing() -> AsyncIterator[Job]:
    await asyncio.Event().wait()
    yield Job("ask", "", "")


async def known(desk: Desk, handle: str) -> None:
    """Wait until the desk has heard of a card of another one."""

    async def is_known() -> bool:
        return desk._intake.card(handle) is not None

    await until(is_known)


async def reached(backend: Backend, posting: ChatDouble, desk: Desk) -> None:
    """Ask until the desk hears of a card."""
    async with Gate.open(backend, run=RunRef("deploy-bot", "before"), timeout=30) as gate:

        async def has_heard() -> bool:
            waiting = asyncio.create_task(gate.check(CALL))
            await posting.card_where(lambda card: isinstance(card.state, Open))
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await posting.card_where(lambda card: not isinstance(card.state, Open))
            posting.cards.clear()
            return bool(desk._intake._cards)

        await until(has_heard)


@pytest.fixture(params=["here", "elsewhere"])
async def room(backend: Backend, request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    chat, copies = ChatDouble(), Counted(backend.copies, "find")
    counted = replace(backend, copies=cast("Copies", copies))
    if request.param == "here":
        desk = poster = Desk(counted, [chat], ROUTES)
        async with Room.open(backend, desk, chat=chat, copies=copies, poster=poster) as room:
            yield room
        return
    poster = Desk(backend, [chat], ROUTES)
    desk = Desk(replace(counted, outbox=NoJobs(backend.outbox)), [chat], ROUTES)
    async with (
        working(poster),
        Room.open(backend, desk, chat=chat, copies=copies, poster=poster) as room,
    ):
        await reached(backend, chat, desk)
        copies.looks = 0
        yield room


@dataclass
class Beside:
    """Two desks with a chat each: one that posts, and one that is pressed at."""

    backend: Backend
    gate: Gate
    poster: Desk
    desk: Desk
    posting: ChatDouble
    other: ChatDouble


@pytest.fixture
async def beside(backend: Backend) -> AsyncIterator[Beside]:
    posting, other = ChatDouble(), ChatDouble()
    poster = Desk(backend, [posting], ROUTES)
    desk = Desk(replace(backend, outbox=NoJobs(backend.outbox)), [other], ROUTES)
    async with (
        Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=30) as gate,
        working(poster),
        working(desk),
    ):
        await reached(backend, posting, desk)
        yield Beside(backend, gate, poster, desk, posting, other)


async def test_the_desk_that_posted_a_card_brings_it_up_to_date_wherever_it_was_pressed(
    beside: Beside,
) -> None:
    waiting = asyncio.create_task(beside.gate.check(CALL))
    ref, card = await beside.posting.card_where(lambda card: isinstance(card.state, Open))
    await known(beside.desk, card.handle)

    answer = await beside.desk.press(press_on(ref, card, "allow"))
    await beside.posting.ended_card()

    assert answer.kind is Answered.RECORDED
    assert (await waiting).approved
    assert beside.other.history == []


async def test_a_desk_whose_poster_is_gone_leaves_the_card_to_any_desk(backend: Backend) -> None:
    posting, other = ChatDouble(), ChatDouble()
    poster, desk = Desk(backend, [posting], ROUTES), Desk(backend, [other], ROUTES)
    pressed_at = Desk(replace(backend, outbox=NoJobs(backend.outbox)), [ChatDouble()], ROUTES)
    async with (
        Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=30) as gate,
        working(pressed_at),
    ):
        async with working(poster):
            await reached(backend, posting, pressed_at)
            waiting = asyncio.create_task(gate.check(CALL))
            ref, card = await posting.card_where(lambda card: isinstance(card.state, Open))
            await known(pressed_at, card.handle)
        other.cards[ref] = card
        async with working(desk):
            await pressed_at.press(press_on(ref, card, "deny"))
            ended = await other.ended_card()

    assert not (await waiting).approved
    assert ended.handle == card.handle


async def test_whoever_asked_approves_nothing_at_another_desk_either(beside: Beside) -> None:
    asked = beside.gate.check(CALL, requested_by="slack:U0ALICE")
    waiting = asyncio.create_task(asked)
    ref, card = await beside.posting.card_where(lambda card: isinstance(card.state, Open))
    await known(beside.desk, card.handle)

    own = await beside.desk.press(press_on(ref, card, "allow"))

    assert own.kind is Answered.REFUSED
    assert not waiting.done()
    assert (await beside.desk.press(press_on(ref, card, "deny"))).kind is Answered.RECORDED
    assert not (await waiting).approved


async def test_a_decision_needs_no_look(room: Room) -> None:
    waiting, ref, card = await room.shown()

    answer = await room.desk.press(press_on(ref, card, "allow"))
    looks = room.copies.looks

    assert answer.kind is Answered.RECORDED
    assert (await waiting).approved
    assert looks == 0


async def test_a_handle_that_leads_nowhere_any_more_decides_nothing(room: Room) -> None:
    waiting, ref, card = await room.shown()
    record = (await room.backend.watch.pending())[0]
    for copy in record.copies:
        await room.backend.copies.drop(copy)

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.UNKNOWN
    assert not waiting.done()
    waiting.cancel()


async def test_a_callback_decides_once(room: Room) -> None:
    waiting, ref, card = await room.shown()
    press = replace(press_on(ref, card, "allow"), delivery="slack:1")
    await room.desk.press(press)
    await waiting
    again, ref, card = await room.shown()

    with pytest.raises(ReplayedCallbackError):
        await room.desk.press(replace(press_on(ref, card, "allow"), delivery="slack:1"))

    assert not again.done()
    again.cancel()


async def test_a_question_that_ended_elsewhere_is_not_decided_again(room: Room) -> None:
    waiting, ref, card = await room.shown()
    await room.gate.cancel(await room.question_id())

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.LATE
    assert "cancelled" in answer.text
    assert not (await waiting).approved


async def test_an_expired_question_is_not_decided(room: Room) -> None:
    waiting, ref, card = await room.shown()
    await room.backend.watch.shorten(await room.question_id(), 0)

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.LATE
    assert not (await waiting).approved


async def test_nobody_else_decides_and_the_card_stays_open(room: Room) -> None:
    waiting, ref, card = await room.shown()

    refused = await room.desk.press(press_on(ref, card, "allow", by="slack:U0MALLORY"))
    elsewhere = await room.desk.press(
        press_on(MessageRef(OPS, "another"), card, "allow", by="slack:U0ALICE")
    )
    unknown = await room.desk.press(press_on(ref, card, "launch"))

    kinds = [answer.kind for answer in (refused, elsewhere, unknown)]
    assert kinds == [Answered.REFUSED] * 3
    assert not waiting.done()
    assert (await room.desk.press(press_on(ref, card, "deny"))).kind is Answered.RECORDED
    assert not (await waiting).approved


async def test_what_cannot_be_seen_is_not_allowed_from_memory(room: Room) -> None:
    waiting, ref, card = await room.shown(ToolCall("write", {"text": "y" * 3_000}))

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.REFUSED
    assert not waiting.done()
    await room.desk.press(press_on(ref, card, "show"))
    assert (await room.desk.press(press_on(ref, card, "allow"))).kind is Answered.RECORDED
    assert (await waiting).approved


async def test_always_takes_its_second_step_also_from_memory(room: Room) -> None:
    waiting, ref, card = await room.shown()

    first = await room.desk.press(press_on(ref, card, "always", confirmed=False))

    assert first.kind is Answered.CONFIRM
    assert not waiting.done()
    assert (await room.desk.press(press_on(ref, card, "always"))).kind is Answered.RECORDED
    assert (await waiting).approved
    assert (await room.gate.check(CALL)).approved


async def test_a_group_is_read_once_for_a_press() -> None:
    chat = ChatDouble()
    # At the start, and at the press.
    chat.fail("members", DeliveryError("slack", "away"), DeliveryError("slack", "away"))
    chat.groups["oncall"] = {"slack:U0CAROL"}
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RunRef("bot", "s"), timeout=30) as gate,
        working(Desk(backend, [chat], ROUTES)) as desk,
    ):
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await chat.card_where(lambda card: isinstance(card.state, Open))

        answer = await desk.press(press_on(ref, card, "allow", by="slack:U0CAROL"))

        assert answer.kind is Answered.REFUSED
        assert not waiting.done()
        waiting.cancel()


async def test_a_card_whose_request_is_gone_is_not_known(store_url: str, redis_url: str) -> None:
    chat = ChatDouble()
    async with (
        redis_backend(store_url) as backend,
        Gate.open(backend, run=RunRef("bot", "s"), timeout=30) as gate,
        working(Desk(backend, [chat], ROUTES)) as desk,
        Redis.from_url(redis_url) as server,
    ):
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await chat.card_where(lambda card: isinstance(card.state, Open))
        await desk._background.settled()
        request = (await backend.watch.pending())[0].request
        await server.delete(read_url(store_url).keys.record(request.question_id))

        answer = await desk.press(press_on(ref, card, "allow"))

        assert answer.kind is Answered.UNKNOWN
        assert not waiting.done()
        waiting.cancel()
