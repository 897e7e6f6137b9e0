"""Four eyes: whoever asked may not approve it, with any account, unless the route says so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, RUN, ChatRoom

from sayso import ConfigError, Gate, Outcome, Question, RequestNotFoundError, Resolution, ToolCall
from sayso.agent.responding import Responder
from sayso.cards.card import Card, CardBody, Choice, Open
from sayso.chats.places import Answered, MessageRef
from sayso.events import UserInputRequest, UserInputResponse
from sayso.forms.form import Form, FormField
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.questions.clarification import Clarify
from sayso.stores.backend import Backend
from sayso.stores.notices import PressNotice
from sayso.stores.topics import notice_topic
from sayso.testing import a_request
from sayso.worker.authorization import Approvers, Authorization
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

CALL = ToolCall("bash", {"command": "terraform apply"})
ALICE, BOB = "slack:U0ALICE", "slack:U0BOB"
PEOPLE = {"alice": frozenset({ALICE, "telegram:4242", "api:alice"})}
APPROVING = ("allow", "always")


class BookRequestEvent(UserInputRequest):
    """Whether a book may be kept: approved by how many weeks the form says."""

    type: Literal["BOOK_REQUEST"] = "BOOK_REQUEST"
    book_id: str

    @property
    def question_id(self) -> str:
        return self.book_id

    @property
    def subject(self) -> str:
        return "book"

    def card(self) -> CardBody:
        form = Form("For how long?", (FormField("weeks", "Weeks", "integer"),))
        return CardBody(title="Moby-Dick", choices=(Choice("lend", "…", form=form),))

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> BookResponseEvent:
        return BookResponseEvent(
            book_id=self.book_id,
            source_name=self.source_name,
            decided_by=by,
            decided_at=at,
            weeks=inputs["weeks"],
        )


class BookResponseEvent(UserInputResponse):
    type: Literal["BOOK_RESPONSE"] = "BOOK_RESPONSE"
    book_id: str
    weeks: int

    @property
    def question_id(self) -> str:
        return self.book_id

    @property
    def outcome(self) -> Outcome:
        return Outcome.APPROVED if self.weeks else Outcome.DENIED


class Lend(Question[BookRequestEvent, Resolution]):
    def request(self, question_id: str, fields: dict[str, Any]) -> BookRequestEvent:
        return BookRequestEvent(book_id=question_id, **fields)


@asynccontextmanager
async def a_room(
    backend: Backend, requested_by: str | None, *, self_approval: bool = False, **gate: Any
) -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    approvers = ("alice", BOB, "slack:@oncall")
    route = Route((OPS,), approvers=approvers, self_approval=self_approval)
    desk = ApprovalWorker(backend, [chat], Routes([route], PEOPLE), WorkerOptions())
    options: Mapping[str, Any] = {"requested_by": requested_by, **gate}
    async with ChatRoom.open(backend, desk, gate=options, chat=chat) as room:
        yield room


async def opened(room: ChatRoom, **fields: Any) -> tuple[MessageRef, Card]:
    """The card of a request that some middleware wrote."""
    request = a_request(tool=CALL.name, arguments=CALL.arguments, run=RUN)
    request = request.model_copy(update=fields)
    await room.backend.store.open(request, seconds=30, inbox="", book=None)
    return await room.chat.card_where()


async def refusals(room: ChatRoom) -> list[tuple[str, str]]:
    await room.settled()
    entries = await room.backend.audit.read(100)
    return [(one.refusal, one.by) for one in entries if one.kind == "press_refused"]


@pytest.mark.parametrize("choice", APPROVING)
@pytest.mark.parametrize("asker", [ALICE, "telegram:4242", "api:alice", "alice", "slack:u0alice"])
async def test_whoever_asked_does_not_approve_it_with_any_account(
    backend: Backend, asker: str, choice: str
) -> None:
    async with a_room(backend, None) as room:
        ref, card = await opened(room, requested_by=asker)

        refused = await room.desk.press(press_on(ref, card, choice))

        assert (refused.kind, refused.text) == (
            Answered.REFUSED,
            "You asked for this, so somebody else has to approve it. It stays open.",
        )
        assert await refusals(room) == [("own_request", ALICE)]
        other = await room.desk.press(press_on(ref, card, "allow", by=BOB))
        assert other.kind in (Answered.RECORDED, Answered.UNHEARD)


async def test_whoever_asked_may_deny_it_and_see_all_of_it(backend: Backend) -> None:
    async with a_room(backend, ALICE) as room:
        waiting, ref, card = await room.asked(CALL)

        denied = await room.desk.press(press_on(ref, card, "deny"))

        assert denied.kind is Answered.RECORDED
        assert (await waiting).outcome is Outcome.DENIED


async def test_the_route_can_let_them_approve_what_they_asked_for(backend: Backend) -> None:
    async with a_room(backend, ALICE, self_approval=True) as room:
        waiting, ref, card = await room.asked(CALL)

        await room.desk.press(press_on(ref, card, "allow"))

        assert (await waiting).approved


async def test_a_group_makes_nobody_an_approver_of_their_own_request(backend: Backend) -> None:
    async with a_room(backend, "slack:U0CAROL") as room:
        room.chat.groups["oncall"] = {"slack:U0CAROL", "slack:U0DAVE"}
        waiting, ref, card = await room.asked(CALL)

        own = await room.desk.press(press_on(ref, card, "allow", by="slack:U0CAROL"))
        await room.desk.press(press_on(ref, card, "allow", by="slack:U0DAVE"))

        assert own.kind is Answered.REFUSED
        assert (await waiting).decided_by == "slack:U0DAVE"


async def test_always_is_refused_at_its_first_step(backend: Backend) -> None:
    async with a_room(backend, ALICE) as room:
        _, ref, card = await room.asked(CALL)

        refused = await room.desk.press(press_on(ref, card, "always", confirmed=False))

        assert refused.kind is Answered.REFUSED
        assert room.chat.cards[ref].state == Open()


async def test_no_form_of_an_approval_is_put_to_them_and_none_is_taken(backend: Backend) -> None:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    async with a_room(backend, ALICE) as room:
        ref, card = await opened(room, requested_by=ALICE, arguments_schema=schema)

        asked_to = await room.desk.press(press_on(ref, card, "edit"))
        sent = await room.desk.press(press_on(ref, card, "edit", inputs={"command": "ls"}))

        assert asked_to.kind is sent.kind is Answered.REFUSED
        assert room.chat.asked == []
        asked = await room.desk.press(press_on(ref, card, "deny-reason"))
        assert asked.kind is Answered.ASKED


async def test_an_approval_that_a_form_turns_out_to_be_is_refused(backend: Backend) -> None:
    async with a_room(backend, ALICE) as room:
        question_id = await room.gate.submit(Lend())
        ref, card = await room.chat.card_where()

        answer = await room.desk.press(press_on(ref, card, "lend", inputs={"weeks": "4"}))

        assert answer.kind is Answered.REFUSED
        assert await refusals(room) == [("own_request", ALICE)]
        record = await backend.store.get(question_id)
        assert record is not None
        assert record.ending is None


async def test_a_question_that_approves_nothing_may_be_answered_by_whoever_asked(
    backend: Backend,
) -> None:
    async with a_room(backend, ALICE) as room:
        question_id = await room.gate.submit(Clarify("Which one?", options=("left", "right")))
        ref, card = await room.chat.card_where()

        answer = await room.desk.press(press_on(ref, card, card.choices[0].key))

        assert answer.kind in (Answered.RECORDED, Answered.UNHEARD)
        record = await backend.store.get(question_id)
        assert record is not None
        assert record.ending is not None
        assert record.ending.outcome is Outcome.ANSWERED


async def test_any_question_can_say_who_wants_it(backend: Backend) -> None:
    async with a_room(backend, BOB) as room:
        task = room.ask(CALL, requested_by=ALICE)
        ref, card = await room.chat.card_where()

        refused = await room.desk.press(press_on(ref, card, "allow"))
        await room.desk.press(press_on(ref, card, "allow", by=BOB))

        assert ("Requested by", ALICE) in card.body.facts
        assert refused.kind is Answered.REFUSED
        assert (await task).decided_by == BOB


NO_ACCOUNTS = (
    *("slack:@oncall", "slack:", ":U0", "slack:U0 A", "slack:U0ALICE ", " slack:U0ALICE", "slack"),
    *("telegram:04242", "telegram:+4242", "telegram:+04242", "Slack:U0ALICE", "slack::U0ALICE"),
    *("slack:\uff35\uff10ALICE", "slack:U0AL\u0130CE", "slack:U0ALICE\u200b", "telegram:\u0664242"),
)


@pytest.mark.parametrize("asker", [*NO_ACCOUNTS, "carol"])
async def test_what_is_not_plainly_an_account_may_be_whoever_presses(
    backend: Backend, asker: str
) -> None:
    async with a_room(backend, None) as room:
        ref, card = await opened(room, requested_by=asker)

        for actor in (ALICE, BOB):
            refused = await room.desk.press(press_on(ref, card, "allow", by=actor))
            assert refused.kind is Answered.REFUSED
        assert sorted(await refusals(room)) == [("own_request", ALICE), ("own_request", BOB)]
        denied = await room.desk.press(press_on(ref, card, "deny", by=BOB))
        assert denied.kind in (Answered.RECORDED, Answered.UNHEARD)


@pytest.mark.parametrize("who", [*NO_ACCOUNTS, "alice", ""])
async def test_a_request_of_whoever_is_no_account_is_not_emitted(
    backend: Backend, who: str
) -> None:
    approvers = Approvers(Routes([Route((OPS,), approvers=(ALICE,))], PEOPLE), {})
    async with Gate.open(backend, run=RUN) as gate:
        for field in ("requested_by", "filed_by"):
            request = a_request(run=RUN).model_copy(update={field: who})
            with pytest.raises(ValueError, match="is not an account"):
                await gate.emit(request)
            with pytest.raises(RequestNotFoundError):
                await Responder(backend, approvers).respond(request.approve(by=ALICE))


@pytest.mark.parametrize("who", [*NO_ACCOUNTS, "alice", ""])
async def test_who_wants_it_is_an_account_and_nothing_else(backend: Backend, who: str) -> None:
    with pytest.raises(ConfigError, match=r"requested_by: .* is not an account"):
        async with Gate.open(backend, run=RUN, requested_by=who):
            pass
    async with Gate.open(backend, run=RUN) as gate:
        with pytest.raises(ValueError, match="is not an account"):
            await gate.check(CALL, requested_by=who)


async def test_whoever_waits_hears_that_somebody_else_has_to_approve(backend: Backend) -> None:
    async with (
        a_room(backend, ALICE) as room,
        backend.bus.subscribe(notice_topic(RUN)) as notices,
    ):
        _, ref, card = await room.asked(CALL)

        await room.desk.press(press_on(ref, card, "allow"))

        async for notice in notices:
            if isinstance(notice, PressNotice):
                assert (notice.kind, notice.actor) == ("own_request", ALICE)
                break


def test_an_account_that_two_people_have_is_both_of_theirs() -> None:
    people = {"a": frozenset({ALICE, BOB}), "b": frozenset({BOB, "slack:U0C"})}
    request = a_request().model_copy(update={"requested_by": BOB})

    asked = [Routes([], people).asked_by(who, request) for who in (ALICE, "slack:U0C", "slack:U0D")]

    assert asked == [True, True, False]


def test_an_asker_may_end_their_request_with_anything_but_an_approval() -> None:
    request, now = a_request(), datetime.now(UTC)
    approved, denied = request.approve(by=ALICE, at=now), request.deny(by=ALICE, at=now)

    allowed = {
        one: (one.allows(approved), one.allows(denied), one.refusal)
        for one in Authorization
        if one is not Authorization.APPROVER
    }

    assert allowed == {
        Authorization.STRANGER: (False, False, "not_approver"),
        Authorization.ASKER: (False, True, "own_request"),
    }
    assert Authorization.APPROVER.allows(approved)
    assert Authorization.APPROVER.allows(denied)
