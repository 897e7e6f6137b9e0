"""Presses come to any desk: each looks the card up in the store, whoever posted it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from support.chat_double import ChatDouble, press_on, working
from support.room import OPS, ChatRoom

from sayso import Gate, RunRef, ToolCall
from sayso.cards.card import Open
from sayso.chats.places import Answered
from sayso.errors import DeliveryError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.redis import redis_backend
from sayso.stores.redis.url import read_url
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

CALL = ToolCall("bash", {"command": "terraform apply"})
ROUTES = Routes([Route((OPS,), approvers=("slack:U0ALICE", "slack:@oncall"))])


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    async with ChatRoom.open(backend, ApprovalWorker(backend, [chat], ROUTES), chat=chat) as room:
        yield room


async def question_id(backend: Backend) -> str:
    """The id of the one request that is open."""
    (record,) = await backend.store.list_requests()
    return record.request.question_id


async def test_a_desk_that_did_not_post_the_card_decides_and_any_desk_updates_it(
    backend: Backend,
) -> None:
    posting, other = ChatDouble(), ChatDouble()
    async with Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=30) as gate:
        async with working(ApprovalWorker(backend, [posting], ROUTES)):
            waiting = asyncio.create_task(gate.check(CALL))
            ref, card = await posting.card_where(lambda card: isinstance(card.state, Open))
        other.cards[ref] = card
        async with working(ApprovalWorker(backend, [other], ROUTES)) as desk:
            answer = await desk.press(press_on(ref, card, "allow"))
            ended = await other.ended_card()

    assert answer.kind is Answered.RECORDED
    assert (await waiting).approved
    assert ended.handle == card.handle


async def test_whoever_asked_approves_nothing_at_another_desk_either(backend: Backend) -> None:
    posting = ChatDouble()
    async with (
        Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=30) as gate,
        working(ApprovalWorker(backend, [posting], ROUTES)),
    ):
        waiting = asyncio.create_task(gate.check(CALL, requested_by="slack:U0ALICE"))
        ref, card = await posting.card_where(lambda card: isinstance(card.state, Open))
        desk = ApprovalWorker(backend, [ChatDouble()], ROUTES)

        own = await desk.press(press_on(ref, card, "allow"))

        assert own.kind is Answered.REFUSED
        assert not waiting.done()
        assert (await desk.press(press_on(ref, card, "deny"))).kind is Answered.RECORDED
        assert not (await waiting).approved


async def test_a_handle_that_leads_nowhere_any_more_decides_nothing(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    (record,) = await room.backend.store.list_requests()
    for copy in record.copies:
        await room.backend.copies.drop(copy)

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.UNKNOWN
    assert not waiting.done()
    waiting.cancel()


async def test_a_question_that_ended_elsewhere_is_not_decided_again(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.gate.cancel(await question_id(room.backend))

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.LATE
    assert "cancelled" in answer.text
    assert not (await waiting).approved


async def test_an_expired_question_is_not_decided(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.backend.store.shorten_deadline(await question_id(room.backend), 0)

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.LATE
    assert not (await waiting).approved


async def test_a_group_is_read_once_for_a_press() -> None:
    chat = ChatDouble()
    # At the start, and at the press.
    chat.fail("members", DeliveryError("slack", "away"), DeliveryError("slack", "away"))
    chat.groups["oncall"] = {"slack:U0CAROL"}
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RunRef("bot", "s"), timeout=30) as gate,
        working(ApprovalWorker(backend, [chat], ROUTES)) as desk,
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
        working(ApprovalWorker(backend, [chat], ROUTES)) as desk,
        Redis.from_url(redis_url) as server,
    ):
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await chat.card_where(lambda card: isinstance(card.state, Open))
        await server.delete(read_url(store_url).keys.record(await question_id(backend)))

        answer = await desk.press(press_on(ref, card, "allow"))

        assert answer.kind is Answered.UNKNOWN
        assert not waiting.done()
        waiting.cancel()
