"""After the end a card is short, and the rest is behind *Details*."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from support.bundle_room import a_room, all_ended, line
from support.chat_double import ChatDouble, press_on
from support.room import OPS, ChatRoom

from sayso import ToolCall
from sayso.cards.card import Card, Ended
from sayso.chats.places import Answered, MessageRef
from sayso.errors import DeliveryError
from sayso.stores.backend import Backend
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

LINES = "".join(f"line {number}\n" for number in range(400))
CALL = ToolCall("deploy", {"command": "make deploy", "notes": LINES})
SHORT = ToolCall("deploy", {"command": "make deploy", "notes": "of the shop"})
STRANGER = "slack:U0EVE"


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    desk = ApprovalWorker(backend, [chat], Routes([Route(to=(OPS,), approvers=("slack:U0ALICE",))]))
    async with ChatRoom.open(backend, desk, chat=chat) as room:
        yield room


async def ended(room: ChatRoom, call: ToolCall = CALL) -> tuple[MessageRef, Card]:
    waiting, ref, card = await room.asked(call)
    await room.desk.press(press_on(ref, card, "deny"))
    await waiting
    return await shown(room, details=False)


async def shown(room: ChatRoom, *, details: bool) -> tuple[MessageRef, Card]:
    return await room.chat.card_where(
        lambda card: isinstance(card.state, Ended) and card.state.details is details
    )


def keys(card: Card) -> list[str]:
    return [choice.key for choice in card.choices]


async def test_an_ended_card_shows_no_argument_no_digest_and_no_id(room: ChatRoom) -> None:
    _, card = await ended(room)

    assert card.content == card.description == ""
    assert card.facts == ()
    assert keys(card) == ["details"]
    assert "line 399" in card.everything
    assert card.body.digest in card.everything
    assert "Session" in card.everything


async def test_details_open_the_card_and_back_closes_it_for_whoever_presses(
    room: ChatRoom,
) -> None:
    ref, card = await ended(room)

    answer = await room.desk.press(press_on(ref, card, "details", by=STRANGER))
    ref, opened = await shown(room, details=True)

    assert answer.kind is Answered.CONFIRM
    assert "command: make deploy" in opened.content
    assert ("Digest", opened.body.digest) in opened.facts
    assert keys(opened) == ["whole", "shorter"]
    await room.desk.press(press_on(ref, opened, "shorter", by=STRANGER))
    _, again = await shown(room, details=False)
    assert again.is_short
    assert room.chat.revealed == []


async def test_what_is_longer_than_a_message_is_sent_to_those_who_may_decide(
    room: ChatRoom,
) -> None:
    ref, card = await ended(room)
    await room.desk.press(press_on(ref, card, "details"))
    ref, opened = await shown(room, details=True)

    refused = await room.desk.press(press_on(ref, opened, "whole", by=STRANGER))
    taken = await room.desk.press(press_on(ref, opened, "whole"))

    assert (refused.kind, taken.kind) == (Answered.REFUSED, Answered.SHOWN)
    [(_, text)] = room.chat.revealed
    assert "line 399" in text


@pytest.mark.parametrize(
    ("call", "actor"), [(SHORT, STRANGER), (CALL, "slack:U0ALICE")], ids=["stranger", "approver"]
)
async def test_where_nobody_else_sees_it_the_presser_alone_does(
    room: ChatRoom, call: ToolCall, actor: str
) -> None:
    room.chat.limits = replace(room.chat.limits, private=True)
    ref, card = await ended(room, call)

    answer = await room.desk.press(press_on(ref, card, "details", by=actor))
    await room.settled()

    assert answer.kind is Answered.SHOWN
    [(press, text)] = room.chat.revealed
    assert (press.actor, str(call.arguments["notes"]) in text) == (actor, True)
    assert (await room.chat.ended_card()).is_short


async def test_a_stranger_is_shown_nothing_in_a_dialog_that_no_card_showed(room: ChatRoom) -> None:
    room.chat.limits = replace(room.chat.limits, private=True)
    ref, card = await ended(room)

    await room.desk.press(press_on(ref, card, "details", by=STRANGER))
    ref, opened = await shown(room, details=True)
    refused = await room.desk.press(press_on(ref, opened, "whole", by=STRANGER))

    assert "command: make deploy" in opened.content
    assert "line 399" not in opened.content
    assert refused.kind is Answered.REFUSED
    assert room.chat.revealed == []


async def test_what_is_too_large_for_a_dialog_opens_the_card(room: ChatRoom) -> None:
    room.chat.limits = replace(room.chat.limits, private=True)
    ref, card = await ended(room)
    room.chat.fail("reveal", DeliveryError("slack", "too large", permanent=True))

    await room.desk.press(press_on(ref, card, "details"))

    _, opened = await shown(room, details=True)
    assert "command: make deploy" in opened.content


async def test_a_card_that_was_opened_up_while_it_was_open_is_short_once_it_has_ended(
    room: ChatRoom,
) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "more"))
    await room.desk.press(press_on(ref, card, "deny"))
    await waiting

    assert (await room.chat.ended_card()).is_short


async def test_a_card_that_another_process_opened_up_is_closed_and_shown_in_full_here(
    room: ChatRoom,
) -> None:
    """No process knows what another one has opened up, or itself before it was started again."""
    ref, card = await ended(room)

    taken = await room.desk.press(press_on(ref, card, "whole"))
    refused = await room.desk.press(press_on(ref, card, "whole", by=STRANGER))
    closed = await room.desk.press(press_on(ref, card, "shorter"))

    kinds = [answer.kind for answer in (taken, refused, closed)]
    assert kinds == [Answered.SHOWN, Answered.REFUSED, Answered.CONFIRM]
    [(_, text)] = room.chat.revealed
    assert "line 399" in text


async def test_back_and_show_all_of_a_card_that_was_open_come_too_late(room: ChatRoom) -> None:
    ref, card = await ended(room)

    answers = [await room.desk.press(press_on(ref, card, key)) for key in ("back", "show")]

    assert [answer.kind for answer in answers] == [Answered.LATE, Answered.LATE]


async def test_each_line_of_several_calls_has_its_own_details(backend: Backend) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("build", "test")
        for name in ("build", "test"):
            await room.press(ref, line(cards, name), "deny")
        cards = await room.now(ref, all_ended)
        assert all(card.is_short for card in cards)

        await room.press(ref, line(cards, "test"), "details")

        now = await room.now(ref, lambda cards: any(not card.is_short for card in cards))
        assert (line(now, "build").is_short, line(now, "test").is_short) == (True, False)
        assert line(now, "test").content == "do test"


async def test_what_came_of_an_approval_is_on_its_card(room: ChatRoom) -> None:
    request = a_request(tool="deploy", run=room.gate.run)
    await room.backend.store.open(request, seconds=30, inbox="", book=None)
    ref, card = await room.chat.card_where(lambda card: card.body.title == "deploy")
    await room.desk.press(press_on(ref, card, "allow"))
    until = request.expires_at + timedelta(days=1)

    await room.backend.store.consume_approval(request.question_id, "key", until=until)
    await room.backend.store.report_outcome(request.question_id, "failed", "exit code 1")

    _, card = await room.chat.card_where(
        lambda card: isinstance(card.state, Ended) and card.state.went == "failed"
    )
    assert isinstance(card.state, Ended)
    assert (card.state.note, card.state.facts) == ("exit code 1", ())
    assert card.is_short
