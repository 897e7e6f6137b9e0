"""A card is an intention before it is posted; its message is noted whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.chat_double import ChatDouble, working
from support.on_their_way import (
    ALICE,
    PHONE,
    Held,
    a_desk,
    asked,
    copies_of,
    ended,
    is_settled,
    live,
)
from support.room import OPS
from support.timer import QuickTimer, settle

from sayso.cards.card import Card, Ended, Open
from sayso.chats.places import MessageRef, Place
from sayso.errors import (
    ChannelMigratedError,
    DeliveryError,
    RequestNotFoundError,
    StoreUnreachableError,
)
from sayso.stores.backend import Backend
from sayso.stores.protocols import Copy, Marked
from sayso.testing import soon, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker


class Copies:
    """Copies whose ``mark`` is what a test wants it to be for a while."""

    def __init__(self, inner: Any, mark: Callable[[Copy], Awaitable[Marked]]) -> None:
        self._inner = inner
        self.mark: Any = mark

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.fixture
async def chat() -> AsyncIterator[Held]:
    held = Held()
    yield held
    held.answer.set()


async def test_a_request_that_ended_while_its_card_was_on_the_way_keeps_no_button(
    backend: Backend, chat: Held
) -> None:
    desk = a_desk(backend, chat)
    async with working(desk):
        request = await asked(backend)
        await chat.posted.wait()
        await ended(backend, request)
        # The job to bring its cards up to date finds none.
        await settle()
        chat.answer.set()
        await chat.ended_card()

    assert len(chat.cards) == 1


async def test_a_request_that_ended_while_its_message_could_not_be_noted_keeps_no_button(
    backend: Backend,
) -> None:
    chat, tries = ChatDouble(), 0

    async def mark(copy: Copy, **more: Any) -> Marked:
        nonlocal tries
        tries += 1
        if tries == 1:
            await ended(backend, request)
        if tries < 4:
            raise StoreUnreachableError("away for a moment")
        return await backend.copies.mark(copy, **more)

    request = await asked(backend)
    desk = a_desk(replace(backend, copies=Copies(backend.copies, mark)), chat)
    async with working(desk):
        await chat.ended_card()

    assert (len(chat.cards), live(chat)) == (1, [])


async def test_a_message_that_cannot_be_noted_for_a_while_is_not_posted_again(
    backend: Backend,
) -> None:
    chat, tries = ChatDouble(), 0

    async def mark(copy: Copy, **more: Any) -> Marked:
        nonlocal tries
        tries += 1
        if tries < 10:
            raise StoreUnreachableError("away for a moment")
        return await backend.copies.mark(copy, **more)

    request = await asked(backend)
    desk = a_desk(replace(backend, copies=Copies(backend.copies, mark)), chat)

    async def is_noted() -> bool:
        return any(copy.stands for copy in await copies_of(backend, request))

    async with working(desk):
        await until(is_noted)

    assert len(chat.cards) == 1


async def test_a_desk_that_finds_a_card_of_an_ended_request_finishes_it(backend: Backend) -> None:
    """The one that noted it died before it could show how the request had ended."""
    chat = ChatDouble()
    request = await asked(backend)
    copy = Copy("handle", request.question_id, OPS)
    await backend.copies.issue(copy)
    ref = MessageRef(OPS, "1")
    await ended(backend, request)
    async with backend.outbox.jobs("the one that tidied up too early") as jobs:
        job = [await anext(jobs), await anext(jobs)][1]
        assert job.kind == "end"
        await backend.outbox.done(job)
    await backend.copies.mark(copy.at(ref))

    async with working(a_desk(backend, chat)):
        await chat.ended_card()

    assert list(chat.cards) == [ref]


async def test_a_message_whose_request_the_store_lost_keeps_no_button(backend: Backend) -> None:
    chat = ChatDouble()

    async def mark(copy: Copy, **more: Any) -> Marked:
        raise RequestNotFoundError(copy.question_id)

    await asked(backend)
    desk = a_desk(replace(backend, copies=Copies(backend.copies, mark)), chat)
    async with working(desk):
        card = await chat.ended_card()

    assert isinstance(card.state, Ended)
    assert card.state.reason == "the store lost this request"


async def test_a_message_that_arrives_after_the_patience_for_it_is_noted_and_closed(
    backend: Backend, chat: Held
) -> None:
    desk = a_desk(backend, chat)
    async with working(desk):
        request = await asked(backend, seconds=0.4)

        async def is_over() -> bool:
            record = await backend.store.get(request.question_id)
            return record is not None and record.ending is not None

        await until(is_over)
        assert len(live(chat)) == 1
        chat.answer.set()
        await chat.ended_card()

    assert all(copy.message_id for copy in await copies_of(backend, request))


async def test_a_job_is_not_done_while_its_message_may_still_arrive(
    backend: Backend, chat: Held
) -> None:
    desk = a_desk(backend, chat)
    async with backend.outbox.jobs("a desk") as jobs:
        request = await asked(backend, seconds=0.4)
        doing = asyncio.create_task(desk._jobs.do(await soon(jobs)))

        async def is_over() -> bool:
            record = await backend.store.get(request.question_id)
            return record is not None and record.ending is not None

        await until(is_over)
        await settle()
        assert not doing.done()
        chat.answer.set()
        await doing
        await desk._background.settled()

    assert all(copy.message_id for copy in await copies_of(backend, request))


async def test_a_chat_that_moves_between_the_intention_and_the_post_has_the_card_once(
    backend: Backend,
) -> None:
    chat = ChatDouble("telegram")
    chat.fail("show", ChannelMigratedError("telegram", "-1002"))
    desk = a_desk(backend, chat, to=[PHONE])
    async with working(desk):
        request = await asked(backend)
        ref, _ = await chat.card_where()
        # The message about it comes a little later, to any desk.
        await desk.moved(PHONE, Place("telegram", "-1002"))
        await until(lambda: is_settled(desk))
        assert list(chat.cards) == [ref]
        await ended(backend, request)
        await chat.ended_card()

    assert ref.place == Place("telegram", "-1002")


async def test_one_place_that_shows_it_is_enough_when_another_fails_late(backend: Backend) -> None:
    slack, telegram = ChatDouble("slack"), ChatDouble("telegram")
    telegram.fail(
        "show",
        *(DeliveryError("telegram", "no answer in time") for _ in range(3)),
        DeliveryError("telegram", "bot was kicked", permanent=True),
    )
    desk = a_desk(backend, slack, telegram, to=[OPS, PHONE])
    async with working(desk):
        request = await asked(backend)
        await slack.card_where()
        await until(lambda: is_settled(desk))
        record = await backend.store.get(request.question_id)
        assert record is not None
        assert record.ending is None
        await ended(backend, request)
        await slack.ended_card()

    assert not telegram.failures["show"]
    assert telegram.cards == {}


class Leaving(ChatDouble):
    """A chat whose messages leave a turn of the event loop after they were made."""

    def __init__(self, platform: str, told: list[str]) -> None:
        super().__init__(platform)
        self._told = told

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        self._told.append("made")
        await asyncio.sleep(0)
        self._told.append("left")
        return await super().show(cards, place)


async def test_the_card_for_one_chat_leaves_before_the_next_is_made(backend: Backend) -> None:
    told: list[str] = []
    slack, telegram = Leaving("slack", told), Leaving("telegram", told)
    async with working(a_desk(backend, slack, telegram, to=[OPS, PHONE])):
        await asked(backend)
        await slack.card_where()
        await telegram.card_where()

    assert told == ["made", "left", "made", "left"]


async def test_a_request_that_ended_before_its_turn_came_is_not_posted(backend: Backend) -> None:
    chat = ChatDouble()
    chat.fail("show", DeliveryError("slack", "ratelimited", retry_after=600))
    routes = Routes([Route((OPS,), approvers=(ALICE,))])
    desk = ApprovalWorker(backend, [chat], routes, timer=QuickTimer())
    async with working(desk):
        request = await asked(backend)
        await until(lambda: _has_failed(chat))
        await ended(backend, request)
        await until(lambda: is_settled(desk))

    assert chat.cards == {}
    assert await copies_of(backend, request) == ()


async def _has_failed(chat: ChatDouble) -> bool:
    return not chat.failures["show"]


async def test_a_card_that_ends_while_another_change_is_on_its_way_says_how_it_ended(
    backend: Backend,
) -> None:
    chat = ChatDouble()
    desk = a_desk(backend, chat)
    request = await asked(backend)
    copy = Copy("handle", request.question_id, OPS)
    await backend.copies.issue(copy)
    await backend.copies.mark(copy.at(MessageRef(OPS, "1")))
    found = await backend.copies.find("handle")
    assert found is not None
    reached, go = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        reached.set()
        await go.wait()

    chat.before_update = hold
    changing = asyncio.create_task(desk._delivery.update(found, Open(more=True)))
    await reached.wait()
    # Another desk has the job for this, and was quicker.
    await ended(backend, request)
    go.set()
    await changing

    states = [card.state for verb, _, card in chat.history if verb == "update"]
    assert states[0] == Open(more=True)
    assert isinstance(states[-1], Ended)
    assert len(states) == 2


async def test_a_card_that_stays_as_it_is_is_sent_once(backend: Backend) -> None:
    chat = ChatDouble()
    desk = a_desk(backend, chat)
    request = await asked(backend)
    copy = Copy("handle", request.question_id, OPS)
    await backend.copies.issue(copy)
    await backend.copies.mark(copy.at(MessageRef(OPS, "1")))
    found = await backend.copies.find("handle")
    assert found is not None

    await desk._delivery.update(found, Open(more=True))

    assert len(chat.history) == 1
