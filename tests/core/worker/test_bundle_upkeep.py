"""A message with several calls stays true: few edits, many desks, chats that move."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from support.bundle_room import PHONE, BundleRoom, a_room, all_ended, line, states
from support.chat_double import ChatDouble, press_on, working
from support.room import OPS

from sayso.cards.bundle import Bundle
from sayso.cards.card import Card, Open
from sayso.chats.places import Answered, MessageRef, Place
from sayso.clock import utc_now
from sayso.errors import ChannelMigratedError, DeliveryError
from sayso.stores.backend import Backend
from sayso.stores.protocols import Marked
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[BundleRoom]:
    async with a_room(backend) as room:
        yield room


def keys(cards: tuple[Card, ...]) -> list[str]:
    return [choice.key for choice in Bundle(cards).choices]


async def test_endings_while_an_edit_is_on_its_way_share_the_next_one(room: BundleRoom) -> None:
    tools = [f"tool-{number}" for number in range(7)]
    ref, cards = await room.shown(*tools)
    before = len(room.chat.bundle_history)
    all_told = asyncio.Event()
    room.chat.before_update = all_told.wait
    await room.press(ref, cards[0], "allow-all")
    await room.ends_taken(cards)
    all_told.set()
    await room.now(ref, all_ended)
    await room.settled()

    # The first one may say what had ended when it began, the next one says all.
    assert len(room.chat.bundle_history) - before <= 2


async def test_a_platform_that_asks_for_patience_gets_one_edit_for_all_that_happened_meanwhile(
    room: BundleRoom,
) -> None:
    ref, cards = await room.shown("build", "test", "deploy")
    before = len(room.chat.bundle_history)
    room.chat.fail("update a bundle", DeliveryError("slack", "ratelimited", retry_after=0.3))

    for card, choice in zip(cards, ("allow", "deny", "allow"), strict=True):
        await room.press(ref, card, choice)
    await room.now(ref, all_ended)
    await room.settled()

    assert len(room.chat.bundle_history) == before + 1


async def test_both_chats_show_what_was_decided_in_either(backend: Backend) -> None:
    slack, telegram = ChatDouble("slack"), ChatDouble("telegram")
    async with a_room(backend, slack, telegram) as room:
        here, cards = await room.shown("build", "test")
        there, others = await telegram.bundle_where()
        await room.press(here, line(cards, "build"), "allow")
        await room.press(there, line(others, "test"), "deny", "telegram:42")

        for ref, chat in ((here, slack), (there, telegram)):
            now = await room.now(ref, all_ended, chat)
            assert states(now) == {"build": "approved", "test": "denied"}


async def test_two_desks_agree_on_what_the_message_shows(backend: Backend) -> None:
    """The one that posted is slow to edit; the other one shows a later state meanwhile."""
    slow = ChatDouble()
    async with a_room(backend, slow) as room:
        ref, cards = await room.shown("build", "test")
        reached, go = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            reached.set()
            await go.wait()

        slow.before_update = hold
        await room.press(ref, line(cards, "build"), "allow")
        await reached.wait()
        record = (await backend.store.list_requests())[0]
        await backend.store.settle(
            record.request.question_id, record.request.cancelled(at=utc_now())
        )
        go.set()

        now = await room.now(ref, all_ended)
        assert states(now) == {"build": "approved", "test": "cancelled"}


async def test_a_desk_that_died_before_it_could_note_the_message_is_made_up_for(
    backend: Backend,
) -> None:
    class Unnoted:
        """Copies whose messages are never noted."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        async def mark(self, copy: Any, **more: Any) -> Marked:
            del copy
            return Marked()

    dying = replace(backend, copies=Unnoted(backend.copies))
    async with a_room(dying) as room:
        ref, cards = await room.shown("build", "test", "deploy")
    other = ChatDouble()
    other.bundles = dict(room.chat.bundles)
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with working(ApprovalWorker(backend, [other], routes)) as desk:
        await desk.press(press_on(ref, line(cards, "build"), "allow"))
        await other.bundle_where(lambda cards: states(cards)["build"] == "approved")
        await desk.press(press_on(ref, line(cards, "test"), "deny-all"))
        await other.bundle_where(all_ended)
    found = [await backend.copies.find(card.handle) for card in cards]
    assert {one.copy.message_id for one in found if one is not None} == {ref.message_id}


async def test_a_call_withdrawn_on_the_way_to_the_chat_is_shown_as_withdrawn(
    backend: Backend,
) -> None:
    class Slow(ChatDouble):
        def __init__(self) -> None:
            super().__init__()
            self.posting, self.go = asyncio.Event(), asyncio.Event()

        async def show(self, cards: Any, place: Place) -> MessageRef:
            self.posting.set()
            await self.go.wait()
            return await super().show(cards, place)

    chat = Slow()
    async with a_room(backend, chat) as room:
        room.ask_about("build", "test")
        await room.gathered(2)
        room.window.close()
        await chat.posting.wait()
        record = next(
            one for one in await backend.store.list_requests() if one.request.subject == "test"
        )
        await room.gate.cancel(record.request.question_id)
        chat.go.set()

        _, cards = await chat.bundle_where(lambda cards: states(cards)["test"] == "cancelled")
        assert isinstance(line(cards, "build").state, Open)


async def test_open_calls_follow_their_chat_to_its_new_address_on_one_message(
    backend: Backend,
) -> None:
    telegram = ChatDouble("telegram")
    async with a_room(backend, telegram) as room:
        ref, cards = await room.shown("build", "test", "deploy")
        await room.press(ref, line(cards, "test"), "deny", "telegram:42")
        await room.now(ref, lambda cards: states(cards)["test"] == "denied")
        new = Place("telegram", "-1002")

        await room.desk.moved(PHONE, new)

        await telegram.bundle_where(lambda _: len(telegram.bundles) == 2)
        moved, others = next(
            (where, shown) for where, shown in telegram.bundles.items() if where.place == new
        )
        assert states(others) == {"build": "open", "deploy": "open"}
        answer = await room.press(moved, others[0], "allow-all", "telegram:42")
        assert answer.text == "2 approved."


async def test_a_chat_that_moved_unnoticed_is_followed(backend: Backend) -> None:
    telegram = ChatDouble("telegram")
    telegram.fail("show a bundle", ChannelMigratedError("telegram", "-1002"))
    async with a_room(backend, telegram) as room:
        ref, cards = await room.shown("build", "test")

        assert ref.place.address == "-1002"
        assert (await room.press(ref, cards[0], "allow-all", "telegram:42")).text == "2 approved."


async def test_a_late_edit_of_one_desk_does_not_undo_a_later_one_of_another(
    backend: Backend,
) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("build", "test")
        slow, reached, go = ChatDouble(), asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            reached.set()
            await go.wait()

        slow.before_update = hold
        other = ApprovalWorker(backend, [slow], Routes([]))
        found = await backend.copies.find(cards[0].handle)
        assert found is not None
        editing = asyncio.create_task(other._delivery.update(found))
        await reached.wait()
        await room.press(ref, cards[0], "allow-all")
        await room.now(ref, all_ended)
        go.set()
        await editing

        assert all_ended(slow.bundles[ref])


async def test_an_edit_that_would_change_nothing_is_not_sent_right_after_the_same(
    room: BundleRoom,
) -> None:
    ref, cards = await room.shown("build", "test")
    before = len(room.chat.bundle_history)
    reached, go = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        reached.set()
        await go.wait()

    room.chat.before_update = hold
    await room.press(ref, line(cards, "build"), "allow")
    await reached.wait()
    late = [await room.press(ref, line(cards, "build"), "deny") for _ in range(3)]
    go.set()
    await room.settled()

    assert {answer.kind for answer in late} == {Answered.LATE}
    assert len(room.chat.bundle_history) == before + 1


async def test_an_edit_that_was_refused_does_not_keep_the_next_one_from_being_sent(
    room: BundleRoom,
) -> None:
    ref, cards = await room.shown("build", "test")
    room.chat.fail("update a bundle", DeliveryError("slack", "gone", permanent=True))
    reached, go = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        reached.set()
        await go.wait()

    room.chat.before_update = hold
    await room.press(ref, line(cards, "build"), "allow")
    await reached.wait()
    late = await room.press(ref, line(cards, "build"), "deny")
    go.set()
    await room.settled()

    assert late.kind is Answered.LATE
    assert states(room.chat.bundles[ref]) == {"build": "approved", "test": "open"}
