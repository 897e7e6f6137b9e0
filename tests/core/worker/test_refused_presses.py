"""Refused presses are in the audit with their kind, and push nothing else out of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from support.bundle_room import BOB, RUN, a_room
from support.chat_double import ChatDouble, press_on
from support.room import OPS, ChatRoom

from sayso import ToolCall
from sayso.chats.places import Answered, Place
from sayso.errors import ReplayedCallbackError
from sayso.stores.audit import AuditEntry
from sayso.stores.backend import Backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

CALL = ToolCall("bash", {"command": "terraform apply"})
MALLORY = "slack:U0MALLORY"


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE", "slack:U0BOB"))])
    async with ChatRoom.open(backend, ApprovalWorker(backend, [chat], routes), chat=chat) as room:
        yield room


async def refused(room: ChatRoom) -> list[AuditEntry]:
    await room.settled()
    return [one for one in await room.backend.audit.read(1_000) if one.kind == "press_refused"]


async def test_a_strangers_press_is_audited(room: ChatRoom) -> None:
    _, ref, card = await room.asked(CALL)

    await room.desk.press(press_on(ref, card, "allow", by=MALLORY))

    [entry] = await refused(room)
    assert (entry.refusal, entry.by, entry.choice) == ("not_approver", MALLORY, "allow")
    assert (entry.place, entry.subject, entry.agent_id) == (str(OPS), "bash", "deploy-bot")
    asked = (await room.backend.audit.read(10))[0]
    assert (entry.question_id, entry.digest) == (asked.question_id, asked.digest)


async def test_a_late_press_is_audited(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "deny"))
    await waiting

    await room.desk.press(press_on(ref, card, "allow", by="slack:U0BOB"))

    assert [(one.refusal, one.by) for one in await refused(room)] == [("late", "slack:U0BOB")]


async def test_a_button_under_another_message_is_audited_once_its_request_is_known(
    room: ChatRoom,
) -> None:
    _, ref, card = await room.asked(CALL)
    elsewhere = replace(ref, place=Place("slack", "C0OTHER"))

    await room.desk.press(press_on(elsewhere, card, "allow"))
    await room.desk.press(press_on(ref, replace(card, handle="made-up"), "allow"))

    [entry] = await refused(room)
    assert (entry.refusal, entry.place) == ("foreign", "slack:C0OTHER")


async def test_a_replayed_press_is_audited(room: ChatRoom) -> None:
    _, ref, card = await room.asked(CALL)
    press = press_on(ref, card, "deny", delivery="d-1")
    await room.desk.press(press)

    with pytest.raises(ReplayedCallbackError):
        await room.desk.press(press)

    assert [one.refusal for one in await refused(room)] == ["replay"]


async def test_a_button_that_the_card_does_not_have_is_audited(room: ChatRoom) -> None:
    _, ref, card = await room.asked(CALL)

    await room.desk.press(press_on(ref, card, "x" * 20))

    [entry] = await refused(room)
    assert (entry.refusal, entry.choice) == ("not_offered", "x" * 20)


async def test_good_presses_leave_no_refusal(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    await room.desk.press(press_on(ref, card, "allow"))
    await waiting

    assert await refused(room) == []


async def test_however_often_a_stranger_presses_it_is_one_entry(room: ChatRoom) -> None:
    _, ref, card = await room.asked(CALL)

    for _ in range(1_000):
        answer = await room.desk.press(press_on(ref, card, "allow", by=MALLORY))
        assert answer.kind is Answered.REFUSED

    assert [(one.refusal, one.by) for one in await refused(room)] == [("not_approver", MALLORY)]
    kinds = [one.kind for one in await room.backend.audit.read(100)]
    assert kinds == ["asked", "press_refused"]


async def test_each_call_of_a_message_that_is_refused_is_audited(backend: Backend) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("build", "test")

        refusal = await room.press(ref, cards[0], "allow-all", MALLORY)
        await room.press(ref, cards[0], "deny-all", BOB)
        for check in room.checks.values():
            await check
        late = await room.press(ref, cards[0], "allow-all", BOB)

        assert (refusal.kind, late.kind) == (Answered.REFUSED, Answered.LATE)
        await room.settled()
        entries = [one for one in await backend.audit.read(50) if one.kind == "press_refused"]
        assert [(one.subject, one.refusal, one.by) for one in entries] == [
            ("build", "not_approver", MALLORY),
            ("test", "not_approver", MALLORY),
            ("build", "late", BOB),
        ]


async def test_allow_all_leaves_out_what_the_presser_asked_for(backend: Backend) -> None:
    async with a_room(backend) as room:
        room.ask_about("build", requested_by=BOB)
        await room.gathered(1)
        ref, cards = await room.shown("test")

        first = await room.press(ref, cards[0], "allow-all", BOB)

        assert (await room.checks["test"]).approved
        assert not room.checks["build"].done()
        assert first.text == "1 approved, 1 you asked for, so somebody else has to approve."
        assert first.kind is Answered.LATE
        again = await room.press(ref, cards[0], "allow-all", BOB)
        assert (again.kind, again.text) == (
            Answered.REFUSED,
            "You asked for these, so somebody else has to approve them. They stay open.",
        )
        own = [one for one in await refused(room) if one.refusal == "own_request"]
        assert [(one.subject, one.by) for one in own] == [("build", BOB)]
        await room.press(ref, cards[0], "deny-all", BOB)
        assert not (await room.checks["build"]).approved
        assert RUN.agent_id == own[0].agent_id
