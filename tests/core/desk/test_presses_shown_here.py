"""Presses on cards that this desk posted itself: one step in the store, and all that it checks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import cast

import pytest
from redis.asyncio import Redis
from support.chat_double import ChatDouble, press_on, working
from support.counted import Counted
from support.room import OPS, ChatRoom

from sayso import Gate, RunRef, ToolCall, Verdict
from sayso.cards.card import Card, Open
from sayso.chats.places import Answered, MessageRef
from sayso.desk.desk import Desk
from sayso.desk.routes import Route, Routes
from sayso.errors import DeliveryError, ReplayedCallbackError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.ports import Copies
from sayso.stores.redis import redis_backend
from sayso.stores.redis.url import read_url

CALL = ToolCall("bash", {"command": "terraform apply"})
ROUTES = Routes([Route((OPS,), approvers=("slack:U0ALICE", "slack:@oncall"))])


@dataclass
class Room(ChatRoom):
    """A room whose desk posted the cards itself, and its looks at them."""

    copies: Counted

    async def shown(self, call: ToolCall = CALL) -> tuple[asyncio.Task[Verdict], MessageRef, Card]:
        """Ask about a call; its card when the desk has noted where it stands."""
        asked = await self.asked(call)
        await self.settled()
        return asked

    async def question_id(self) -> str:
        return (await self.backend.watch.pending())[0].request.question_id


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[Room]:
    chat, copies = ChatDouble(), Counted(backend.copies, "find")
    desk = Desk(replace(backend, copies=cast("Copies", copies)), [chat], ROUTES)
    async with Room.open(backend, desk, chat=chat, copies=copies) as room:
        yield room


async def test_a_decision_needs_no_look(room: Room) -> None:
    waiting, ref, card = await room.shown()

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.RECORDED
    assert (await waiting).approved
    assert room.copies.looks == 0


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
