"""Presses on a message with several calls: each decided on its own, or all that wait at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from support.bundle_room import BOB, BundleRoom, a_call, a_room, all_ended, line, states
from support.chat_double import ChatDouble
from support.room import OPS

from sayso.cards.bundle import Bundle
from sayso.cards.card import Card, Ended, Open
from sayso.chats.places import Answered, MessageRef, Press
from sayso.errors import (
    ReplayedCallbackError,
    StoreUnreachableError,
)
from sayso.stores.backend import Backend
from sayso.stores.protocols import Copy
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[BundleRoom]:
    async with a_room(backend) as room:
        yield room


def keys(cards: tuple[Card, ...]) -> list[str]:
    return [choice.key for choice in Bundle(cards).choices]


async def test_deciding_one_leaves_the_others_their_buttons(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test", "deploy")

    answer = await room.press(ref, line(cards, "test"), "deny", BOB)

    assert answer.kind is Answered.RECORDED
    now = await room.now(ref, lambda cards: states(cards)["test"] == "denied")
    assert states(now) == {"build": "open", "test": "denied", "deploy": "open"}
    assert [choice.key for choice in line(now, "build").choices] == ["allow", "always", "deny"]
    assert keys(now) == ["allow-all", "deny-all"]
    denied = await room.checks["test"]
    assert (denied.approved, denied.decided_by) == (False, BOB)
    assert not room.checks["build"].done()


async def test_each_call_keeps_its_id_its_source_and_its_response(room: BundleRoom) -> None:
    room.ask_about("build", source_name="shell")
    await room.gathered(1)
    ref, cards = await room.shown("test")
    asked = {
        one.request.question_id: one.request for one in await room.backend.store.list_requests()
    }

    await room.press(ref, cards[0], "allow-all")

    verdicts = [await check for check in room.checks.values()]
    assert [verdict.arguments for verdict in verdicts] == [
        {"command": "do build"},
        {"command": "do test"},
    ]
    for question_id, request in asked.items():
        record = await room.backend.store.get(question_id)
        assert record is not None
        assert record.ending is not None
        assert record.ending.question_id == question_id
        assert record.ending.source_name == request.source_name
    assert {request.source_name for request in asked.values()} == {"shell", "deploy-bot"}
    audited = [
        one for one in await room.backend.audit.read(20) if one.kind in ("approved", "denied")
    ]
    assert {one.question_id for one in audited} == set(asked)
    assert len({one.digest for one in audited}) == 2


@pytest.mark.parametrize(("choice", "outcome"), [("allow-all", "approved"), ("deny-all", "denied")])
async def test_all_that_wait_can_be_decided_at_once(
    room: BundleRoom, choice: str, outcome: str
) -> None:
    ref, cards = await room.shown("build", "test", "deploy")

    answer = await room.press(ref, cards[0], choice)

    assert (answer.kind, answer.text) == (Answered.RECORDED, f"3 {outcome}.")
    assert set((await room.verdicts()).values()) == {outcome}
    now = await room.now(ref, all_ended)
    assert {card.state.by_name for card in now if isinstance(card.state, Ended)} == {"alice"}
    assert keys(now) == []


async def test_what_others_were_quicker_with_stays_and_the_presser_is_told(
    room: BundleRoom,
) -> None:
    ref, cards = await room.shown("build", "test", "deploy")
    await room.press(ref, line(cards, "test"), "deny", BOB)

    answer = await room.press(ref, line(cards, "test"), "allow-all")

    assert answer.kind is Answered.LATE
    assert answer.text == "2 approved, 1 was already denied by slack:U0BOB."
    assert await room.verdicts() == {"build": "approved", "test": "denied", "deploy": "approved"}


async def test_two_who_press_all_at_once_decide_each_call_once(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test", "deploy")

    answers = await asyncio.gather(
        room.press(ref, cards[0], "allow-all"), room.press(ref, cards[1], "deny-all", BOB)
    )

    verdicts = await room.verdicts()
    told = " ".join(answer.text for answer in answers)
    now = await room.now(ref, all_ended)
    assert states(now) == verdicts
    audited = [
        one for one in await room.backend.audit.read(20) if one.kind in ("approved", "denied")
    ]
    assert len(audited) == 3
    assert "already" in told


async def test_a_second_press_for_all_is_too_late_and_changes_nothing(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test")
    await room.press(ref, cards[0], "deny-all", BOB)

    answer = await room.press(ref, cards[0], "allow-all")

    assert (answer.kind, answer.text) == (
        Answered.LATE,
        "2 were already denied by slack:U0BOB.",
    )
    assert set((await room.verdicts()).values()) == {"denied"}


async def test_a_stranger_decides_nothing_of_it(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test")

    refused = [
        await room.press(ref, cards[0], choice, "slack:U0MALLORY")
        for choice in ("allow-all", "deny-all", "allow")
    ]

    assert {answer.kind for answer in refused} == {Answered.REFUSED}
    assert len(await room.backend.store.list_requests()) == 2
    assert (await room.press(ref, cards[0], "allow-all")).text == "2 approved."


async def test_a_press_from_another_message_decides_nothing(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test")
    elsewhere = MessageRef(ref.place, "999")

    answer = await room.press(elsewhere, cards[0], "allow-all")

    assert answer.kind is Answered.REFUSED
    assert len(await room.backend.store.list_requests()) == 2


async def test_a_card_that_stands_alone_has_no_button_for_all(room: BundleRoom) -> None:
    room.ask_about("build")
    await room.gathered(1)
    room.window.close()
    ref, card = await room.chat.card_where()

    answer = await room.press(ref, card, "allow-all")

    assert (answer.kind, answer.text) == (Answered.REFUSED, "This card has no such button.")


async def test_a_delivery_counts_once_for_all(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test")
    await room.press(ref, cards[0], "allow-all", delivery="slack:1")

    with pytest.raises(ReplayedCallbackError):
        await room.press(ref, cards[1], "deny-all", delivery="slack:1")


async def test_what_is_cut_is_not_allowed_along_with_the_rest_until_it_was_seen(
    room: BundleRoom,
) -> None:
    room.chat.bundle_limit = 100
    ref, cards = await room.shown("build", a_call("write", text="y" * 500))

    assert keys(cards) == ["deny-all"]
    early = await room.press(ref, cards[0], "allow-all")
    assert (early.kind, early.text) == (
        Answered.REFUSED,
        "Not yet: 1 call is cut. Press Show all there first.",
    )
    assert len(await room.backend.store.list_requests()) == 2

    await room.press(ref, line(cards, "write"), "show")
    seen = await room.now(ref, lambda cards: keys(cards) == ["allow-all", "deny-all"])
    assert "y" * 500 in room.chat.revealed[0][1]
    assert (await room.press(ref, seen[0], "allow-all")).text == "2 approved."


async def test_what_is_cut_can_be_denied_along_with_the_rest(room: BundleRoom) -> None:
    room.chat.bundle_limit = 100
    ref, cards = await room.shown("build", a_call("write", text="y" * 500))

    assert (await room.press(ref, cards[0], "deny-all")).text == "2 denied."


async def test_a_long_reason_of_the_agent_counts_as_cut_too(room: BundleRoom) -> None:
    room.chat.bundle_limit = 100
    room.ask_about("build", description="because " * 40)
    await room.gathered(1)
    ref, cards = await room.shown("test")

    assert keys(cards) == ["deny-all"]
    assert (await room.press(ref, line(cards, "build"), "allow")).kind is Answered.REFUSED


async def test_the_second_step_of_one_line_keeps_the_buttons_of_the_others(
    room: BundleRoom,
) -> None:
    ref, cards = await room.shown("build", "test")

    await room.press(ref, line(cards, "build"), "always", confirmed=False)
    asked = await room.now(ref, lambda cards: line(cards, "build").state != Open())
    state = line(asked, "build").state
    assert isinstance(state, Open)
    assert state.confirming is not None
    assert line(asked, "test").choices == line(cards, "test").choices

    await room.press(ref, line(asked, "test"), "allow")
    kept = await room.now(ref, lambda cards: states(cards)["test"] == "approved")
    assert line(kept, "build").state == state
    await room.press(ref, line(kept, "build"), "always")
    assert (await room.checks["build"]).approved
    assert (await room.gate.check(a_call("build"))).approved


async def test_one_line_at_a_time_is_opened_up(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test")

    await room.press(ref, line(cards, "build"), "more")
    await room.now(ref, lambda cards: line(cards, "build").state == Open(more=True))
    await room.press(ref, line(cards, "test"), "more")
    now = await room.now(ref, lambda cards: line(cards, "test").state == Open(more=True))
    assert line(now, "build").state == Open()

    await room.press(ref, line(cards, "test"), "back")
    await room.now(ref, lambda cards: line(cards, "test").state == Open())


class Failing:
    """A store that does not record the answer to one tool for a while."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.fails_for: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def settle(self, question_id: str, ending: Any, **more: Any) -> Any:
        if question_id in self.fails_for:
            raise StoreUnreachableError("away for a moment")
        return await self._inner.settle(question_id, ending, **more)


async def test_a_press_that_is_not_stored_for_all_is_not_acknowledged_and_can_be_repeated(
    backend: Backend,
) -> None:
    store = Failing(backend.store)
    async with a_room(replace(backend, store=store)) as room:
        ref, cards = await room.shown("build", "test", "deploy")
        pending = await backend.store.list_requests()
        failing = next(one for one in pending if one.request.subject == "test")
        store.fails_for = {failing.request.question_id}

        with pytest.raises(StoreUnreachableError):
            await room.press(ref, cards[0], "allow-all")
        await room.now(ref, lambda cards: states(cards)["deploy"] == "approved")
        assert [one.request.subject for one in await backend.store.list_requests()] == ["test"]
        store.fails_for = set()
        answer = await room.press(ref, cards[0], "allow-all")

        assert answer.text == "1 approved, 2 were already approved by alice (slack:U0ALICE)."
        assert set((await room.verdicts()).values()) == {"approved"}


async def test_calls_that_nobody_waits_for_are_recorded_and_the_presser_is_told(
    room: BundleRoom,
) -> None:
    for tool in ("build", "test"):
        await room.gate.submit(a_call(tool))
    await room.gathered(2)
    room.window.close()
    ref, cards = await room.chat.bundle_where()

    answer = await room.press(ref, cards[0], "allow-all")

    assert answer.kind is Answered.UNHEARD
    assert answer.text == "2 approved, nobody is waiting for 2 of them right now."


async def test_a_form_of_one_line_is_put_to_the_presser_and_decides_that_line(
    room: BundleRoom,
) -> None:
    ref, cards = await room.shown("build", "test")
    build = line(cards, "build")

    asked = await room.press(ref, build, "deny-reason")
    assert asked.kind is Answered.ASKED
    await room.press(ref, build, "deny-reason", inputs={"reason": "not today"})

    verdict = await room.checks["build"]
    assert (verdict.approved, verdict.reason) == (False, "not today")
    now = await room.now(ref, lambda cards: states(cards)["build"] == "denied")
    assert isinstance(line(now, "test").state, Open)


async def test_a_denial_that_waits_for_its_reason_is_not_allowed_along(room: BundleRoom) -> None:
    ref, cards = await room.shown("build", "test")
    await room.press(ref, line(cards, "build"), "deny-reason", BOB)

    answer = await room.press(ref, cards[0], "allow-all")

    assert await room.verdicts() == {"build": "denied", "test": "approved"}
    assert answer.text == "1 approved, 1 was already denied by slack:U0BOB."


async def test_a_route_that_changed_meanwhile_lets_each_call_be_decided_by_its_own_approvers(
    backend: Backend,
) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("build", "deploy")
    routes = Routes(
        [
            Route((OPS,), tool="deploy", approvers=(BOB,)),
            Route((OPS,), approvers=("slack:U0ALICE",)),
        ]
    )
    chat = ChatDouble()
    async with a_room(backend, chat, routes=routes) as other:
        answer = await other.press(ref, cards[0], "deny-all")

        assert "1 denied, 1 you may not decide" in answer.text
        assert [one.request.subject for one in await backend.store.list_requests()] == ["deploy"]


async def test_a_handle_that_another_message_claims_is_not_decided_there(backend: Backend) -> None:
    chat, mine, other = ChatDouble(), a_request(), a_request()
    for request in (mine, other):
        await backend.store.open(request, seconds=30, inbox="", book=None)
    claims = Copy("one", mine.question_id, OPS, "1", bundle=("one", "two"))
    alone = Copy("two", other.question_id, OPS, "2")
    for copy in (claims, alone):
        await backend.copies.issue(copy)
    desk = ApprovalWorker(backend, [chat], Routes([Route((OPS,), approvers=(BOB,))]))

    press = Press("one", "allow-all", BOB, MessageRef(OPS, "1"))
    await desk.press(press)

    records = [await backend.store.get(request.question_id) for request in (mine, other)]
    assert [record is not None and record.ending is not None for record in records] == [True, False]
