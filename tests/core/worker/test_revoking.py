"""Revoking: a card that stored something takes it back, for those who may, at once and for good."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from support.bundle_room import BOB, a_room, all_ended, line
from support.chat_double import ChatDouble, press_on
from support.room import OPS, ChatRoom

from sayso import Gate, Outcome, ToolCall
from sayso.cards.card import Card, Ended
from sayso.chats.places import Answered, MessageRef
from sayso.stores.backend import Backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

CALL = ToolCall("bash", {"command": "terraform apply"})
ALICE, EVE = "slack:U0ALICE", "slack:U0EVE"


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    route = Route((OPS,), approvers=("alice", BOB))
    routes = Routes([route], {"alice": frozenset({ALICE, "telegram:4242"})})
    desk = ApprovalWorker(backend, [chat], routes)
    async with ChatRoom.open(backend, desk, chat=chat) as room:
        yield room


async def stored(room: ChatRoom, key: str = "always") -> tuple[MessageRef, Card]:
    """The card of a call that somebody chose Always for."""
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, key))
    await waiting
    await room.chat.card_where(lambda card: bool(is_ended(card)) and can_revoke(card))
    return ref, room.chat.cards[ref]


def is_ended(card: Card) -> Ended | None:
    return card.state if isinstance(card.state, Ended) else None


def can_revoke(card: Card) -> bool:
    return any(choice.key == "revoke" for choice in card.choices)


def remembered(card: Card) -> str:
    ended = is_ended(card)
    assert ended is not None
    return ended.stored


async def test_the_card_of_a_stored_grant_revokes_it_and_says_by_whom(room: ChatRoom) -> None:
    ref, card = await stored(room)
    assert [choice.key for choice in card.choices] == ["details", "revoke"]
    async with Gate.open(room.backend, run=room.gate.run) as elsewhere:
        assert (await elsewhere.check(CALL, timeout=5)).approved

        answer = await room.desk.press(press_on(ref, card, "revoke", by=BOB))

        assert answer.kind is Answered.RECORDED
        assert (await elsewhere.check(CALL, timeout=0.2)).outcome is Outcome.EXPIRED
    _, now = await room.chat.card_where(lambda card: f"revoked by {BOB}" in str(card.state))
    assert not can_revoke(now)
    assert remembered(now).startswith(f"revoked by {BOB}; it was: bash with exactly")
    last = [one for one in await room.backend.audit.read(50) if one.kind == "rule_revoked"]
    assert [one.by for one in last] == [BOB]


async def test_a_card_that_stored_nothing_revokes_nothing(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "allow"))
    await waiting
    ended = await room.chat.ended_card()

    answer = await room.desk.press(press_on(ref, card, "revoke"))

    assert not can_revoke(ended)
    assert answer.kind is Answered.REFUSED


async def test_a_stranger_and_a_press_from_elsewhere_revoke_nothing(room: ChatRoom) -> None:
    ref, card = await stored(room)
    foreign = replace(ref, message_id="another")

    for press in (press_on(ref, card, "revoke", by=EVE), press_on(foreign, card, "revoke")):
        assert (await room.desk.press(press)).kind is Answered.REFUSED

    assert len(await room.backend.rules.all()) == 1
    await room.settled()
    refused = [one for one in await room.backend.audit.read(50) if one.kind == "press_refused"]
    assert {one.refusal for one in refused} == {"not_approver", "foreign"}


async def test_what_is_revoked_already_is_said_to_be(room: ChatRoom) -> None:
    ref, card = await stored(room)
    [kept] = await room.backend.rules.all()
    await room.backend.rules.revoke(kept.remembered.rule_id, by="cli:me@host")

    answer = await room.desk.press(press_on(ref, card, "revoke"))

    assert answer.kind is Answered.LATE
    _, now = await room.chat.card_where(lambda card: "revoked by cli:me@host" in str(card.state))
    assert not can_revoke(now)


async def test_who_asked_may_take_back_what_allows_and_not_what_denies(
    backend: Backend,
) -> None:
    for key, kind in (("always", Answered.RECORDED), ("deny-always", Answered.REFUSED)):
        chat = ChatDouble()
        desk = ApprovalWorker(backend, [chat], Routes([Route((OPS,), approvers=(ALICE, BOB))]))
        asking = {"requested_by": ALICE}
        async with ChatRoom.open(backend, desk, asking, chat=chat) as room:
            waiting, ref, card = await room.asked(CALL)
            await room.desk.press(press_on(ref, card, key, by=BOB))
            await waiting
            await chat.card_where(lambda card: bool(is_ended(card)))
            [rule] = await backend.rules.all()

            assert (await room.desk.press(press_on(ref, card, "revoke", by=ALICE))).kind is kind
            listed = await desk.revoking.by_id(rule.remembered.rule_id, by=ALICE)
            assert listed.kind is (Answered.LATE if key == "always" else Answered.REFUSED)


async def test_a_rule_is_revoked_from_a_list_by_those_who_may_approve_its_calls(
    room: ChatRoom,
) -> None:
    await stored(room)
    [kept] = await room.desk.revoking.revocable_by("telegram:4242")
    rule_id = kept.remembered.rule_id

    assert await room.desk.revoking.revocable_by(EVE) == []
    assert (await room.desk.revoking.by_id(rule_id, by=EVE)).kind is Answered.REFUSED
    assert (await room.desk.revoking.by_id("unknown", by=BOB)).kind is Answered.LATE
    assert (await room.desk.revoking.by_id(rule_id, by=BOB)).kind is Answered.RECORDED
    assert await room.backend.rules.all() == []
    await room.chat.card_where(lambda card: f"revoked by {BOB}" in str(card.state))


async def test_a_line_of_several_calls_revokes_its_own_grant_alone(backend: Backend) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("build", "test")
        for name in ("build", "test"):
            await room.press(ref, line(cards, name), "always")
        cards = await room.now(ref, lambda cards: all_ended(cards) and can_revoke(cards[0]))

        answer = await room.press(ref, line(cards, "test"), "revoke", BOB)

        assert answer.kind is Answered.RECORDED
        now = await room.now(
            ref, lambda cards: all_ended(cards) and f"revoked by {BOB}" in str(cards)
        )
        assert can_revoke(line(now, "build"))
        assert not can_revoke(line(now, "test"))
        [kept] = await backend.rules.all()
        assert kept.remembered.rule.tool == "build"
