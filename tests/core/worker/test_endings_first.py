"""Many cards wait for their turn: what has ended goes first, and only its last state is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from support.chat_double import ChatDouble, press_on, working
from support.room import OPS
from support.timer import StoppedTimer, settle

from sayso.cards.card import Card, Ended
from sayso.chats.budgets import Budget, Rate
from sayso.chats.limits import Sending
from sayso.chats.places import MessageRef, Place
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_request, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

ALICE = "slack:U0ALICE"
RATE = Rate(1, 1)


def shared(place: Place, sending: Sending) -> tuple[Budget, ...]:
    del sending
    return (Budget(str(place), RATE),)


@dataclass
class Busy:
    """A chat that takes one message a second, whatever it is."""

    backend: Backend
    chat: ChatDouble
    desk: ApprovalWorker
    timer: StoppedTimer

    async def ask(self, count: int) -> None:
        for _ in range(count):
            await self.backend.store.open(a_request(), seconds=86_400, inbox="", book=None)
        await self.jobs_taken()

    async def jobs_taken(self) -> None:
        async def none_left() -> bool:
            await settle()
            return not self.backend.outbox._waiting.qsize()  # type: ignore[attr-defined]  # memory

        await until(none_left)
        await settle()


@asynccontextmanager
async def busy(chat: ChatDouble | None = None) -> AsyncIterator[Busy]:
    timer, chat = StoppedTimer(), chat or ChatDouble()
    chat.limits = replace(chat.limits, budgets=shared)
    async with memory_backend(clock=lambda: datetime.fromtimestamp(timer.now(), UTC)) as backend:
        routes = Routes([Route((OPS,), approvers=(ALICE,))])
        desk = ApprovalWorker(backend, [chat], routes, timer=timer)
        async with working(desk):
            yield Busy(backend, chat, desk, timer)
            await desk._background.cancel()


async def test_an_ending_does_not_queue_behind_two_thousand_new_cards() -> None:
    async with busy() as room:
        await room.ask(2_000)
        await room.timer.advance(5)
        posted = len(room.chat.cards)
        assert 5 <= posted <= 6
        ref, card = next(iter(room.chat.cards.items()))

        await room.desk.press(press_on(ref, card, "deny", by=ALICE))
        await room.jobs_taken()
        await room.timer.advance(1)

        assert isinstance(room.chat.cards[ref].state, Ended)
        assert len(room.chat.cards) == posted


async def test_an_ending_does_not_queue_behind_changes_of_open_cards() -> None:
    async with busy() as room:
        await room.ask(6)
        await room.timer.advance(10)
        (ref, card), *others = room.chat.cards.items()
        for other, shown in others:
            await room.desk.press(press_on(other, shown, "more", by=ALICE))
        await settle()
        room.chat.history.clear()
        await room.desk.press(press_on(ref, card, "deny", by=ALICE))
        await room.jobs_taken()
        await room.timer.advance(10)

    ended = [isinstance(shown.state, Ended) for _, _, shown in room.chat.history]
    # One may have had its turn already.
    assert True in ended[:2]
    assert len(ended) >= 5


async def test_of_many_changes_of_a_card_only_the_last_is_sent() -> None:
    async with busy() as room:
        await room.ask(1)
        ref, card = next(iter(room.chat.cards.items()))
        for number in range(20):
            choice = "more" if number % 2 else "back"
            await room.desk.press(press_on(ref, card, choice, by=ALICE))
        await settle()
        await room.desk.press(press_on(ref, card, "deny", by=ALICE))
        await room.jobs_taken()
        await room.timer.advance(10)

    sent = [shown for verb, _, shown in room.chat.history if verb == "update"]
    assert len(sent) == 1
    assert isinstance(sent[0].state, Ended)


async def test_decisions_wait_for_no_budget() -> None:
    async with busy() as room:
        await room.ask(50)
        ref, card = next(iter(room.chat.cards.items()))

        answer = await asyncio.wait_for(
            room.desk.press(press_on(ref, card, "deny", by=ALICE)), timeout=30
        )

        assert answer.text.startswith("Denied")
        assert room.timer.now() == StoppedTimer().now()


async def test_fifty_five_cards_in_one_channel_go_one_a_second() -> None:
    times: list[float] = []

    class Stamped(ChatDouble):
        async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
            times.append(room.timer.now())
            return await super().show(cards, place)

    async with busy(Stamped()) as room:
        await room.ask(55)
        await room.timer.advance(60)

    assert times == [times[0] + number for number in range(55)]
