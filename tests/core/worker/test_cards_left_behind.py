"""A card whose message nobody noted works, and is closed as soon as somebody presses on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from support.chat_double import ChatDouble, press_on, working
from support.clock import Clock
from support.on_their_way import (
    ALICE,
    BOB,
    PHONE,
    Direct,
    Held,
    a_desk,
    asked,
    copies_of,
    ended,
    is_settled,
    live,
)
from support.room import OPS

from sayso.cards.card import Card, Ended
from sayso.cards.outcomes import outcome_by
from sayso.chats.places import Answered, MessageRef, Place
from sayso.errors import DeliveryError
from sayso.events import Outcome
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import Copy
from sayso.testing import until
from sayso.worker.routing import Route


async def test_a_platform_that_posts_and_does_not_say_so_gets_a_second_card_and_both_are_closed(
    backend: Backend,
) -> None:
    class Forgetful(ChatDouble):
        async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
            ref = await super().show(cards, place)
            if len(self.cards) == 1:
                raise DeliveryError("slack", "chat.postMessage got no answer within 10 s")
            return ref

    chat = Forgetful()
    desk = a_desk(backend, chat)
    async with working(desk):
        request = await asked(backend)
        await chat.card_where(lambda _: len(chat.cards) == 2)
        await until(lambda: is_settled(desk))
        first, second = chat.cards
        # Anybody may press; only who may decide makes the bots look closer.
        answer = await desk.press(press_on(first, chat.cards[first], "back", by=BOB))
        assert answer.kind is Answered.REFUSED
        await desk.press(press_on(first, chat.cards[first], "back", by=ALICE))
        await until(lambda: is_settled(desk))

        assert live(chat) == [second]
        closed = chat.cards[first].state
        assert isinstance(closed, Ended)
        assert (
            outcome_by(chat.cards[first].translations, closed.outcome)
            == "shown in another message here"
        )
        assert chat.cards[first].choices == ()

        await ended(backend, request)
        await chat.card_where(
            lambda _: all(
                isinstance(card.state, Ended) and card.state.outcome == "cancelled"
                for card in chat.cards.values()
            )
        )


async def test_a_card_left_behind_is_closed_by_anybodys_press_after_the_end(
    backend: Backend,
) -> None:
    chat = ChatDouble()
    request = await asked(backend)
    copy = Copy("handle", request.question_id, OPS)
    await backend.copies.issue(copy)
    desk = a_desk(backend, chat)
    async with working(desk):
        left, card = await chat.card_where()
        orphan = MessageRef(OPS, "orphan")
        chat.cards[orphan] = replace(card, handle="handle")
        await ended(backend, request)
        await chat.card_where(lambda _: live(chat) == [orphan])

        answer = await desk.press(press_on(orphan, chat.cards[orphan], "allow", by=BOB))
        await until(lambda: is_settled(desk))

    assert answer.kind is Answered.LATE
    assert live(chat) == []
    assert left != orphan


async def test_a_press_that_decides_on_a_card_left_behind_counts(backend: Backend) -> None:
    chat = ChatDouble()
    request = await asked(backend)
    await backend.copies.issue(Copy("handle", request.question_id, OPS))
    desk = a_desk(backend, chat)
    async with working(desk):
        _, card = await chat.card_where()
        orphan = MessageRef(OPS, "orphan")
        chat.cards[orphan] = replace(card, handle="handle")
        await until(lambda: is_settled(desk))

        answer = await desk.press(press_on(orphan, chat.cards[orphan], "allow", by=ALICE))
        await chat.card_where(lambda _: not live(chat))
        record = await backend.store.get(request.question_id)

    assert answer.kind in (Answered.RECORDED, Answered.UNHEARD)
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome is Outcome.APPROVED


async def test_two_desks_that_post_the_same_card_leave_one_with_buttons(backend: Backend) -> None:
    chat, slow = ChatDouble(), Held()
    slow.cards = chat.cards
    slow._numbers = iter(range(100, 200))
    async with working(a_desk(backend, slow)) as first:
        request = await asked(backend)
        await slow.posted.wait()
        record = await backend.store.get(request.question_id)
        assert record is not None
        other = a_desk(backend, chat)
        assert await other._broadcast.show(record, Route((OPS,))) == ""
        slow.answer.set()
        await until(lambda: is_settled(first))

    assert [ref.message_id for ref in live(chat)] == ["1"]
    assert [copy.stands for copy in await copies_of(backend, request)].count(True) == 1


async def test_a_card_in_direct_messages_is_known_by_the_person_it_was_sent_to(
    backend: Backend,
) -> None:
    chat, person = Direct(), Place("slack", "U0ALICE")
    async with working(a_desk(backend, chat, to=[person])):
        request = await asked(backend)
        await chat.card_where()
    record = await backend.store.get(request.question_id)
    assert record is not None

    # The desk died before it could say that the job is done.
    async with working(a_desk(backend, chat, to=[person])) as desk:
        await desk._jobs._ask(record)

    assert [ref.place for ref in chat.cards] == [Place("slack", "DU0ALICE")]


async def test_a_card_left_behind_in_direct_messages_can_be_pressed_by_its_person_alone(
    backend: Backend,
) -> None:
    chat, person = Direct(), Place("slack", "U0ALICE")
    request = await asked(backend)
    await backend.copies.issue(Copy("handle", request.question_id, person))
    desk = a_desk(backend, chat, to=[person])
    async with working(desk):
        _, card = await chat.card_where()
        orphan = MessageRef(Place("slack", "DU0ALICE"), "orphan")
        chat.cards[orphan] = replace(card, handle="handle")
        await until(lambda: is_settled(desk))
        stranger = await desk.press(press_on(orphan, chat.cards[orphan], "back", by=BOB))
        await desk.press(press_on(orphan, chat.cards[orphan], "back", by=ALICE))
        await until(lambda: is_settled(desk))

        assert (stranger.kind, stranger.text) == (
            Answered.REFUSED,
            "This button does not belong to this message.",
        )
        assert len(live(chat)) == 1
        await ended(backend, request)
        await chat.card_where(lambda _: not live(chat))


async def test_a_press_closes_a_card_for_30_days_after_its_time_was_over() -> None:
    clock = Clock()
    async with memory_backend(clock=clock) as backend:
        chat = ChatDouble()
        desk = a_desk(backend, chat)
        async with working(desk):
            request = await asked(backend, seconds=60)
            ref, card = await chat.card_where()
            await until(lambda: is_settled(desk))
        # The bots were away when it expired, and long after.
        clock.pass_by(60 + 30 * 86_400 - 1)
        await backend.store.expire_due()
        late = a_desk(backend, chat)

        answer = await late.press(press_on(ref, card, "allow", by=BOB))
        await until(lambda: is_settled(late))
        assert answer.kind is Answered.LATE
        assert live(chat) == []

        clock.pass_by(1)
        gone = await late.press(press_on(ref, card, "allow", by=BOB))
        assert gone.kind is Answered.UNKNOWN
        assert await backend.store.get(request.question_id) is None


async def test_a_card_left_behind_does_not_follow_a_chat_that_moves(backend: Backend) -> None:
    chat, new = ChatDouble("telegram"), Place("telegram", "-1002")
    request = await asked(backend)
    await backend.copies.issue(Copy("handle", request.question_id, PHONE))
    desk = a_desk(backend, chat, to=[PHONE])
    async with working(desk):
        first, _ = await chat.card_where()
        await until(lambda: is_settled(desk))
        await desk.moved(PHONE, new)
        await chat.card_where(lambda _: len(chat.cards) == 2)
        await until(lambda: is_settled(desk))

    assert [ref.place for ref in chat.cards] == [first.place, new]
