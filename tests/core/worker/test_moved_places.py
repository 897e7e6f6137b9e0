"""Places that moved: a desk need not ask for each message, and follows all the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from support.chat_double import ChatDouble, press_on, working
from support.timer import StoppedTimer

from sayso import Gate, RunRef, ToolCall
from sayso.cards.card import Ended, Open
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import ChannelMigratedError
from sayso.stores.backend import Backend
from sayso.stores.chat_moves import note_chat_move
from sayso.stores.memory import memory_backend
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

OLD, NEW = Place("telegram", "-1001"), Place("telegram", "-1002")
ROUTES = Routes([Route((OLD,), approvers=("telegram:42",))])
CALL = ToolCall("bash", {"command": "ls"})


class Asked(MemoryKeyValue):
    """Counts how often it was asked where a place is."""

    times = 0

    async def get(self, key: str) -> str | None:
        self.times += 1
        return await super().get(key)


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


async def answered(backend: Backend, desk: ApprovalWorker, chat: ChatDouble) -> Place:
    """Where a question was shown, and allowed."""
    async with Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=20) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await chat.card_where(lambda card: isinstance(card.state, Open))
        await desk.press(press_on(ref, card, "allow", by="telegram:42"))
        assert (await waiting).approved
        await chat.card_where(lambda _: _all_ended(chat))
    return ref.place


def _all_ended(chat: ChatDouble) -> bool:
    return all(isinstance(card.state, Ended) for card in chat.cards.values())


async def test_that_a_place_has_not_moved_is_asked_once_a_minute(backend: Backend) -> None:
    asked, timer, chat = Asked(utc_now), StoppedTimer(), ChatDouble("telegram")
    watched = replace(backend, key_value=asked)
    async with working(ApprovalWorker(watched, [chat], ROUTES, timer=timer)) as desk:
        for _ in range(3):
            assert await answered(backend, desk, chat) == OLD
        assert asked.times == 1

        timer.time += 61
        await answered(backend, desk, chat)
        assert asked.times == 2


async def test_a_move_that_another_desk_noted_is_followed_by_one_that_has_just_posted_there(
    backend: Backend,
) -> None:
    chat = ChatDouble("telegram")
    async with working(ApprovalWorker(backend, [chat], ROUTES)) as desk:
        assert await answered(backend, desk, chat) == OLD
        await note_chat_move(backend.key_value, OLD, NEW)
        # As the platform says it to whoever still sends to the old address.
        chat.fail("show", ChannelMigratedError("telegram", NEW.address))

        assert await answered(backend, desk, chat) == NEW
        assert await answered(backend, desk, chat) == NEW


async def test_a_desk_that_hears_of_a_move_sends_nothing_to_the_old_address(
    backend: Backend,
) -> None:
    chat = ChatDouble("telegram")
    async with working(ApprovalWorker(backend, [chat], ROUTES)) as desk:
        assert await answered(backend, desk, chat) == OLD
        await desk.moved(OLD, NEW)

        assert await answered(backend, desk, chat) == NEW
