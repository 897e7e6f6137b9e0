"""A choice with a form: put to the presser, taken from who may decide, and never half taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, ChatRoom

from sayso import Clarification, Outcome
from sayso.cards.card import Open
from sayso.chats.places import Answered, MessageRef, Press
from sayso.errors import DeliveryError
from sayso.stores.memory import memory_backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker


@dataclass
class Room(ChatRoom):
    """An agent's question on a card in a chat, with alice and bob allowed to answer it."""

    async def ask_for_words(self, question: str) -> None:
        self.waiting: asyncio.Task[Clarification] = asyncio.create_task(
            self.gate.clarify(question, options=["eu", "us"])
        )
        self.ref, self.card = await self.chat.card_where()

    def press(self, choice: str, **how: object) -> Press:
        return press_on(self.ref, self.card, choice, **how)  # type: ignore[arg-type]


@pytest.fixture
def question() -> str:
    return "Which region?"


@pytest.fixture
async def room(question: str) -> AsyncIterator[Room]:
    chat = ChatDouble(limit=100)
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE", "slack:U0BOB"))])
    async with (
        memory_backend() as backend,
        Room.open(backend, ApprovalWorker(backend, [chat], routes), chat=chat) as room,
    ):
        await room.ask_for_words(question)
        yield room
        room.waiting.cancel()
        await asyncio.gather(room.waiting, return_exceptions=True)


async def test_a_form_is_put_to_the_presser_and_decides_nothing_yet(room: Room) -> None:
    press = room.press("other")

    asked = await room.desk.press(press)

    assert asked.kind is Answered.ASKED
    ((put_to, card, choice),) = room.chat.asked
    assert (put_to, card.handle, choice.key) == (press, room.card.handle, "other")
    assert choice.form is not None
    assert not room.waiting.done()
    assert len(await room.backend.store.list_requests()) == 1


async def test_a_form_that_comes_back_is_the_answer(room: Room) -> None:
    await room.desk.press(room.press("other"))

    told = await room.desk.press(room.press("other", inputs={"answer": "ap"}))

    assert told.kind is Answered.RECORDED
    assert (await room.waiting).answer == "ap"
    assert str((await room.chat.ended_card()).state).count("ap")


@pytest.mark.parametrize(
    "inputs", [{}, {"answer": ""}, {"answer": "  "}, {"answer": "x" * 4_001}, {"answer": ["ap"]}]
)
async def test_what_does_not_fit_keeps_the_question_open_and_is_told_at_its_field(
    room: Room, inputs: dict[str, object]
) -> None:
    told = await room.desk.press(room.press("other", inputs=inputs))

    assert told.kind is Answered.INVALID
    assert list(told.problems) == ["answer"]
    assert room.chat.cards[room.ref].state == Open()
    again = await room.desk.press(room.press("other", inputs={"answer": "ap"}))
    assert again.kind is Answered.RECORDED
    assert (await room.waiting).answer == "ap"


async def test_a_form_from_somebody_who_may_not_decide_consumes_nothing(room: Room) -> None:
    mallory = "slack:U0MALLORY"

    asked = await room.desk.press(room.press("other", by=mallory))
    sent = await room.desk.press(room.press("other", by=mallory, inputs={"answer": "ap"}))

    assert (asked.kind, sent.kind) == (Answered.REFUSED, Answered.REFUSED)
    assert room.chat.asked == []
    assert not room.waiting.done()
    await room.desk.press(room.press("other", by="slack:U0BOB", inputs={"answer": "us-2"}))
    assert (await room.waiting).decided_by == "slack:U0BOB"


async def test_a_form_sent_off_after_the_end_is_too_late_and_changes_nothing(room: Room) -> None:
    await room.desk.press(room.press("other"))
    await room.desk.press(room.press("option-1", by="slack:U0BOB"))

    late = await room.desk.press(room.press("other", inputs={"answer": "ap"}))
    invalid = await room.desk.press(room.press("other", inputs={}))

    assert (late.kind, invalid.kind) == (Answered.LATE, Answered.LATE)
    assert "already answered by slack:U0BOB" in late.text
    assert await room.waiting == Clarification(Outcome.ANSWERED, "eu", "", "slack:U0BOB")


async def test_two_forms_at_once_make_one_answer(room: Room) -> None:
    told = await asyncio.gather(
        *(room.desk.press(room.press("other", inputs={"answer": str(n)})) for n in range(9))
    )

    kinds = [answer.kind for answer in told]
    assert kinds.count(Answered.RECORDED) == 1
    assert kinds.count(Answered.LATE) == 8
    assert (await room.waiting).answer == str(kinds.index(Answered.RECORDED))


async def test_a_form_from_another_message_is_refused(room: Room) -> None:
    elsewhere = press_on(MessageRef(OPS, "999"), room.card, "other", inputs={"answer": "ap"})

    assert (await room.desk.press(elsewhere)).kind is Answered.REFUSED
    assert not room.waiting.done()


async def test_a_form_that_cannot_be_put_is_refused_with_the_reason(room: Room) -> None:
    room.chat.fail("ask", DeliveryError("slack", "expired_trigger_id", permanent=True))

    refused = await room.desk.press(room.press("other"))
    again = await room.desk.press(room.press("other"))

    assert refused.kind is Answered.REFUSED
    assert "expired_trigger_id" in refused.text
    assert again.kind is Answered.ASKED
    assert not room.waiting.done()


@pytest.mark.parametrize("question", ["Which region? " + "x" * 200])
async def test_a_form_that_needs_sight_comes_after_the_whole_question(room: Room) -> None:
    early = await room.desk.press(room.press("other"))
    sent = await room.desk.press(room.press("other", inputs={"answer": "ap"}))
    await room.desk.press(room.press("show"))
    seen = await room.desk.press(room.press("other"))

    assert (early.kind, sent.kind) == (Answered.REFUSED, Answered.REFUSED)
    assert "before it can be answered" in early.text
    assert seen.kind is Answered.ASKED
    assert len(room.chat.asked) == 1


async def test_inputs_for_a_choice_without_a_form_are_not_looked_at(room: Room) -> None:
    await room.desk.press(room.press("option-2", inputs={"answer": "ap"}))

    assert (await room.waiting).answer == "us"
