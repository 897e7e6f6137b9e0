"""Nothing speaks outside the tables around cards: lists, calls of people, answers to presses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, RUN, ChatRoom
from support.x_language import X_DESK, X_SLACK, X_TELEGRAM, X, english, texts

from sayso import ToolCall
from sayso.cards.called import Call, Called
from sayso.cards.card import Card, CardBody
from sayso.chats.caller import Waiting
from sayso.chats.overview import Decided, Overview, Remembered
from sayso.chats.places import Answer, Answered, Place
from sayso.dangers.danger import Danger
from sayso.desk.desk import Desk, DeskOptions
from sayso.desk.routes import Route, Routes
from sayso.errors import DeliveryError
from sayso.stores.memory import memory_backend
from sayso.testing import a_request
from sayso.values import one_value
from sayso_slack.card.message import message as slack_message
from sayso_slack.lists.overview import home, waiting_message
from sayso_slack.lists.waiting import told as slack_told
from sayso_telegram.card.called import with_call
from sayso_telegram.card.message import message as telegram_message
from sayso_telegram.lists.waiting import told as telegram_told

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ALICE, BOB, MALLORY = "slack:U0", "slack:U1", "slack:U2"
WAITING = tuple(Waiting("τ", "α", NOW, link="https://s/1") for _ in range(24))
OVERVIEW = Overview(
    WAITING[:3],
    2,
    tuple(
        Remembered("r", "τ", what, "α", allows, "ρ", NOW)
        for what, allows in (("β", True), ("", False))
    ),
    3,
    tuple(
        Decided(NOW, outcome, "τ", "α", by)
        for outcome in ("approved", "denied", "expired", "cancelled", "answered", "undeliverable")
        for by in ("ρ", "")
    ),
)
LONG = {"α": "ж" * 5_000}


def left(*shown: str) -> list[str]:
    """English words in what nobody but us can have said."""
    said = " ".join(shown).replace("https://s/1", "").replace("slack:U", "")
    return sorted({*english(said)})


@pytest.mark.parametrize("overview", [OVERVIEW, Overview()])
def test_no_list_of_slack_says_a_word_of_english(overview: Overview) -> None:
    for view in (waiting_message(overview, X_SLACK), home(overview, X_SLACK, said="σ")):
        assert left(*texts(view), *_titles(view)) == []


def _titles(view: Any) -> list[str]:
    """What a confirmation of *Revoke* says."""
    if isinstance(view, dict):
        own = [view["text"]] if isinstance(view.get("text"), str) else []
        return own + [said for value in view.values() for said in _titles(value)]
    return [said for one in view for said in _titles(one)] if isinstance(view, list) else []


@pytest.mark.parametrize("count", [1, 24])
def test_no_reminder_and_no_letter_says_a_word_of_english(count: int) -> None:
    calls, people = X_SLACK.calls, (Called("slack:U0", "ρ"),)
    heading = calls.still_waiting.of(count) + calls.waits_for_you.of(count)

    assert left(*texts(slack_told(heading, WAITING[:count], people, X_SLACK))) == []
    text = telegram_told(heading, WAITING[:count], X_TELEGRAM, (Called("telegram:4", "ρ"),))
    assert left(text.text, text.without_entities) == []


def test_no_danger_and_no_call_of_people_says_a_word_of_english() -> None:
    words = X_DESK.questions
    body = CardBody(
        "τ", values=one_value("β"), dangers=words.dangers.of((*Danger,), high_risk=True)
    )
    note = X_DESK.calls.quiet.format(until="07:00")
    call = Call(
        (Called("slack:U0", "ρ"), Called("telegram:4", "ρ")), X_DESK.calls.for_whom, note=note
    )
    card = Card("handle", body, "α", NOW, 900, 900, words=words.cards, call=call)

    assert left(*texts(slack_message([card]))) == []
    shown = with_call(telegram_message(card), [card])
    assert left(shown.text, shown.without_entities) == []


@pytest.fixture
async def room() -> AsyncIterator[ChatRoom]:
    chat = ChatDouble(limit=200)
    routes = Routes([Route((OPS,), approvers=(ALICE, BOB))], language=X)
    async with memory_backend() as backend:
        desk = Desk(backend, [chat], routes, DeskOptions(words={X: X_DESK}))
        async with ChatRoom.open(backend, desk, chat=chat) as room:
            yield room


async def test_no_presser_is_answered_in_english(room: ChatRoom) -> None:
    said: list[Answer] = []
    waiting, ref, card = await room.asked(ToolCall("τ", {"α": "β"}))

    async def press(choice: str, on: Card = card, by: str = ALICE, **how: Any) -> Answer:
        said.append(await room.desk.press(press_on(ref, on, choice, by=by, **how)))
        return said[-1]

    assert (await press("allow", by=MALLORY)).kind is Answered.REFUSED
    assert (await press("allow", replace(card, handle="жжжж"))).kind is Answered.UNKNOWN
    assert (await press("жж")).kind is Answered.REFUSED
    assert (await press("always", confirmed=False)).kind is Answered.CONFIRM
    elsewhere = replace(press_on(ref, card, "allow"), message=replace(ref, message_id="9"))
    said.append(await room.desk.press(replace(elsewhere, actor=ALICE)))
    room.chat.fail("ask", DeliveryError("slack", "ψ", permanent=True))
    assert (await press("edit")).kind is Answered.REFUSED
    assert (await press("edit", inputs={"arguments": "{"})).kind is Answered.INVALID
    assert (await press("always")).kind is Answered.RECORDED
    await waiting
    assert (await press("deny", by=BOB)).kind is Answered.LATE
    await room.settled()
    assert (await press("revoke", by=MALLORY)).kind is Answered.REFUSED
    assert (await press("revoke")).kind is Answered.RECORDED
    assert (await press("revoke")).kind is Answered.LATE

    assert left(*(one.text for one in said)) == []
    assert (
        left(*(text for one in said for text in one.problems.values() if "Expecting" not in text))
        == []
    )


async def test_no_presser_of_a_card_that_is_cut_or_their_own_is_answered_in_english(
    room: ChatRoom,
) -> None:
    said: list[str] = []
    waiting = room.ask(ToolCall("τ", LONG), requested_by=BOB)
    ref, card = await room.chat.card_where()

    for choice, by in (("allow", ALICE), ("allow", BOB), ("show", ALICE), ("allow", BOB)):
        said.append((await room.desk.press(press_on(ref, card, choice, by=by))).text)
    room.chat.fail("reveal", DeliveryError("slack", "ψ", permanent=True))
    said.append((await room.desk.press(press_on(ref, card, "show", by=ALICE))).text)
    room.chat.fail("ask", DeliveryError("slack", "ψ", permanent=True))
    said.append((await room.desk.press(press_on(ref, card, "deny-reason", by=ALICE))).text)
    await waiting

    assert len([text for text in said if text]) >= 5
    assert left(*said) == []


async def test_no_answer_that_nobody_waits_for_and_no_rule_on_a_list_is_told_in_english(
    room: ChatRoom,
) -> None:
    request = a_request(tool="τ", arguments={"α": "β"}, run=RUN)
    await room.backend.store.open(request, seconds=60, inbox="", book=None)
    ref, card = await room.chat.card_where()
    late = await room.desk.press(press_on(ref, card, "always", by=ALICE))
    found = await room.desk.overview(ALICE, Place("slack", "home"))
    (rule,) = found.rules

    assert late.kind is Answered.UNHEARD
    assert (found.language, left(late.text, rule.what)) == (X, [])
    home_of = Place("slack", "home")
    told = [await room.desk.revoke(who, rule.rule_id, home_of) for who in (MALLORY, ALICE, ALICE)]
    assert left(*(one.text for one in told)) == []
    assert all(one.text for one in told)


async def test_nobody_who_presses_for_all_is_answered_in_english() -> None:
    chat = ChatDouble(limit=900)
    routes = Routes([Route((OPS,), approvers=(ALICE, BOB))], language=X)
    options = DeskOptions(words={X: X_DESK}, bundle_window=timedelta(milliseconds=50))
    said: list[str] = []
    async with memory_backend() as backend:
        desk = Desk(backend, [chat], routes, options)
        async with ChatRoom.open(backend, desk, chat=chat) as room:
            calls = [ToolCall("τ", {"α": number}) for number in range(3)]
            calls.append(ToolCall("τ", LONG))
            checks = [room.ask(call) for call in calls]
            ref, cards = await chat.bundle_where()
            assert len(cards) == 4
            for choice, by in (("allow-all", MALLORY), ("allow-all", ALICE)):
                said.append((await desk.press(press_on(ref, cards[0], choice, by=by))).text)
            await desk.press(press_on(ref, cards[0], "deny", by=BOB))
            pressed = [
                await desk.press(press_on(ref, cards[0], "deny-all", by=by)) for by in (ALICE, BOB)
            ]
            said += [one.text for one in pressed]
            await asyncio.gather(*checks)

    assert all(said)
    assert left(*said) == []
