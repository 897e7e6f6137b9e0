"""A no that says more, and a yes to other arguments: from the card to the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from support.chat_double import ChatDouble, press_on, working

from sayso import CheckResult, Gate, Rule, RulePolicy, RunRef, ToolCall
from sayso.cards.card import Card, Ended, Open
from sayso.chats.places import Answer, Answered, MessageRef, Place, Press
from sayso.clock import utc_now
from sayso.digests import arguments_digest, short_digest
from sayso.errors import (
    ConfigError,
    DeliveryError,
    RequestNotFoundError,
    SaysoError,
    StoreUnreachableError,
)
from sayso.events import Outcome, Resolution
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.refusals import Refusals
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import RequestStore
from sayso.testing import a_request, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

CALL = ToolCall("run", {"command": "terraform apply", "count": 1})
ROUTES = Routes([Route((Place("slack", "C1"),), approvers=("slack:U0ALICE", "slack:U0BOB"))])
SCHEMA = {"type": "object", "properties": {"count": {"type": "integer", "maximum": 5}}}


class Asked:
    """A question on a card, and the run that waits for it."""

    def __init__(
        self, desk: ApprovalWorker, chat: ChatDouble, waiting: asyncio.Task[CheckResult]
    ) -> None:
        self.desk = desk
        self.chat = chat
        self.waiting = waiting
        self.ref: MessageRef
        self.card: Card

    async def press(self, choice: str, **how: Any) -> Answer:
        return await self.desk.press(press_on(self.ref, self.card, choice, **how))

    async def ended(self) -> Ended:
        card = await self.chat.ended_card()
        assert isinstance(card.state, Ended)
        return card.state


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as opened:
        yield opened


@pytest.fixture
async def asked(backend: Backend) -> AsyncIterator[Asked]:
    policy = RulePolicy(deny=[Rule("run", {"command": "rm *"})])
    chat = ChatDouble()
    refusals = Refusals(reasons=("Not today",), wait=timedelta(seconds=20))
    desk = ApprovalWorker(backend, [chat], ROUTES, WorkerOptions(refusals=refusals))
    async with (
        Gate.open(backend, run=RunRef("bot", "s-1"), policy=policy, timeout=30) as gate,
        working(desk),
    ):
        asked = Asked(desk, chat, asyncio.create_task(gate.check(CALL)))
        asked.ref, asked.card = await chat.card_where()
        yield asked
        asked.waiting.cancel()


async def test_a_denial_with_a_reason_tells_the_agent_why(asked: Asked) -> None:
    await asked.press("deny-reason")
    answer = await asked.press("deny-reason", inputs={"reason": " wrong cluster "})
    verdict = await asked.waiting

    assert answer.kind is Answered.RECORDED
    assert (verdict.outcome, verdict.reason) == (Outcome.DENIED, "wrong cluster")
    assert verdict.decided_by == "slack:U0ALICE"


async def test_ready_made_reasons_come_from_the_settings(asked: Asked) -> None:
    await asked.press("deny-reason")
    ((_, _, choice),) = asked.chat.asked

    assert choice.form is not None
    assert choice.form.fields[0].suggestions == ("Not today",)


async def test_a_denial_does_not_wait_for_its_reason_longer_than_the_settings_say(
    backend: Backend,
) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(
        backend, [chat], ROUTES, WorkerOptions(refusals=Refusals(wait=timedelta(seconds=0.05)))
    )
    async with Gate.open(backend, run=RunRef("bot", "s-1"), timeout=30) as gate, working(desk):
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await chat.card_where()
        answer = await desk.press(press_on(ref, card, "deny-reason"))
        verdict = await waiting

    assert answer == Answer(Answered.ASKED, "Without a reason it is denied in 0.05 seconds.")
    assert (verdict.outcome, verdict.decided_by) == (Outcome.DENIED, "slack:U0ALICE")


async def test_while_the_reason_is_written_nobody_can_approve(asked: Asked) -> None:
    await asked.press("deny-reason")
    answer = await asked.press("allow", by="slack:U0BOB")
    verdict = await asked.waiting

    assert answer.kind is Answered.LATE
    assert "denied by slack:U0ALICE" in answer.text
    assert (verdict.outcome, verdict.decided_by) == (Outcome.DENIED, "slack:U0ALICE")


async def test_the_denial_is_stored_before_its_reason_is_asked_for(asked: Asked) -> None:
    told: list[Answer] = []

    async def bob_allows(press: Press, card: Card) -> None:
        del press, card
        told.append(await asked.press("allow", by="slack:U0BOB"))

    asked.chat.before_ask = bob_allows
    answer = await asked.press("deny-reason")
    verdict = await asked.waiting

    assert answer.kind is Answered.ASKED
    assert [one.kind for one in told] == [Answered.LATE]
    assert "denied by slack:U0ALICE" in told[0].text
    assert (verdict.outcome, verdict.decided_by) == (Outcome.DENIED, "slack:U0ALICE")


@pytest.mark.parametrize("permanent", [True, False])
async def test_a_denial_whose_form_cannot_be_opened_counts_at_once(
    asked: Asked, permanent: bool
) -> None:
    # The reply was lost, say: the form may even stand.
    asked.chat.fail("ask", DeliveryError("slack", "the reply was lost", permanent=permanent))

    answer = await asked.press("deny-reason")
    later = await asked.press("allow", by="slack:U0BOB")
    verdict = await asked.waiting

    assert answer == Answer(
        Answered.RECORDED, "Denied; no reason could be asked for: the reply was lost."
    )
    assert later.kind is Answered.LATE
    assert (verdict.outcome, verdict.decided_by) == (Outcome.DENIED, "slack:U0ALICE")


async def test_a_denial_whose_form_cannot_be_opened_may_still_be_too_late(asked: Asked) -> None:
    async def bob_denies(press: Press, card: Card) -> None:
        del press, card
        await asked.press("deny", by="slack:U0BOB")

    asked.chat.before_ask = bob_denies
    asked.chat.fail("ask", DeliveryError("slack", "gone"))
    answer = await asked.press("deny-reason")

    assert answer.kind is Answered.LATE
    assert "denied by slack:U0BOB" in answer.text


class Overtaken:
    """A store in which something else comes right before a denial is foreseen."""

    def __init__(self, inner: RequestStore) -> None:
        self._inner = inner
        self.ending: Resolution | None = None
        self.error: SaysoError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def settle_later(
        self, question_id: str, ending: Resolution, *, seconds: float
    ) -> Resolution | None:
        if self.error is not None:
            raise self.error
        if self.ending is not None:
            await self._inner.settle(question_id, self.ending)
        return await self._inner.settle_later(question_id, ending, seconds=seconds)


@pytest.fixture
async def overtaken(
    backend: Backend,
) -> AsyncIterator[tuple[Overtaken, ChatDouble, ApprovalWorker, PermissionRequestEvent]]:
    store = Overtaken(backend.store)
    chat, request = ChatDouble(), a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    async with working(ApprovalWorker(replace(backend, store=store), [chat], ROUTES)) as desk:
        yield store, chat, desk, request


async def test_no_reason_is_asked_for_when_somebody_else_was_quicker(
    overtaken: tuple[Overtaken, ChatDouble, ApprovalWorker, PermissionRequestEvent],
) -> None:
    store, chat, desk, request = overtaken
    ref, card = await chat.card_where()
    store.ending = request.approve(by="slack:U0BOB", at=utc_now())

    answer = await desk.press(press_on(ref, card, "deny-reason"))

    assert answer.kind is Answered.LATE
    assert "already approved by slack:U0BOB" in answer.text
    assert chat.asked == []


async def test_no_reason_is_asked_for_when_the_store_is_away(
    overtaken: tuple[Overtaken, ChatDouble, ApprovalWorker, PermissionRequestEvent],
) -> None:
    store, chat, desk, _ = overtaken
    ref, card = await chat.card_where()
    store.error = StoreUnreachableError("no answer")

    with pytest.raises(StoreUnreachableError):
        await desk.press(press_on(ref, card, "deny-reason"))
    assert chat.asked == []


async def test_no_reason_is_asked_for_when_the_request_is_gone(
    overtaken: tuple[Overtaken, ChatDouble, ApprovalWorker, PermissionRequestEvent],
) -> None:
    store, chat, desk, request = overtaken
    ref, card = await chat.card_where()
    store.error = RequestNotFoundError(request.question_id)

    answer = await desk.press(press_on(ref, card, "deny-reason"))

    assert (answer.kind, chat.asked) == (Answered.UNKNOWN, [])


async def test_who_leaves_the_reason_out_denies_at_once(asked: Asked) -> None:
    await asked.press("deny-reason")
    ((_, _, choice),) = asked.chat.asked

    answer = await asked.press(choice.falls_back)
    verdict = await asked.waiting

    assert answer.kind is Answered.RECORDED
    assert (verdict.outcome, verdict.reason) == (Outcome.DENIED, "")


async def test_all_cards_say_that_a_reason_is_being_written_until_it_is(backend: Backend) -> None:
    places = (Place("slack", "C1"), Place("slack", "C2"))
    routes = Routes([Route(places, approvers=("slack:U0ALICE",))])
    chat, request = ChatDouble(), a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    notice = "slack:U0ALICE denies this; the reason is being written."

    def notices() -> list[str]:
        states = [card.state for card in chat.cards.values()]
        return [state.notice for state in states if isinstance(state, Open)]

    async with working(ApprovalWorker(backend, [chat], routes)) as desk:
        ref, card = await chat.card_where(lambda _: len(chat.cards) == 2)
        await desk.press(press_on(ref, card, "deny-reason"))
        await chat.card_where(lambda _: notices() == [notice] * 2)
        await desk.press(press_on(ref, card, "more"))
        await chat.card_where(lambda card: card.state == Open(more=True, notice=notice))
        await desk.press(press_on(ref, card, "back"))
        await chat.card_where(lambda _: chat.cards[ref].state == Open(notice=notice))
        await desk.press(press_on(ref, card, "deny-reason", inputs={"reason": "no"}))
        await chat.card_where(lambda _: notices() == [])


async def test_a_form_that_was_not_put_to_anybody_denies_nothing(asked: Asked) -> None:
    await asked.press("edit")
    await asked.press("changes")
    await asked.press("allow", by="slack:U0BOB")

    assert (await asked.waiting).approved


async def test_a_reason_of_nothing_but_space_is_asked_for_again(asked: Asked) -> None:
    answer = await asked.press("deny-reason", inputs={"reason": "  \n"})

    assert (answer.kind, answer.problems) == (
        Answered.INVALID,
        {"reason": "an answer is needed here"},
    )
    assert not asked.waiting.done()


async def test_changes_that_are_asked_for_reach_the_agent(asked: Asked, backend: Backend) -> None:
    await asked.press("changes", inputs={"reason": "plan first"})
    verdict = await asked.waiting
    last = (await backend.audit.read(1))[0]

    assert (verdict.outcome, verdict.asks_for_changes) == (Outcome.DENIED, True)
    assert verdict.as_tool_result() == (
        "The call of run did not run. Changes are asked for by a person: plan first"
    )
    assert (last.kind, last.choice) == ("denied", "changes")
    assert ("Asked for", "changes") in (await asked.ended()).facts


async def test_edited_arguments_are_what_runs_and_all_say_so(
    asked: Asked, backend: Backend
) -> None:
    await asked.press("edit", inputs={"arguments": "command=terraform plan"})
    verdict = await asked.waiting
    last = (await backend.audit.read(1))[0]
    changed = {"command": "terraform plan", "count": 1}

    assert verdict.approved
    assert (verdict.arguments, verdict.asked_arguments) == (changed, CALL.arguments)
    assert "approved by a person with changed arguments" in verdict.as_tool_result()
    assert (last.digest, last.changed_digest) == (
        arguments_digest(CALL.arguments),
        arguments_digest(changed),
    )
    ended = await asked.ended()
    assert dict(ended.facts)["Runs with"] == "command: terraform plan\ncount: 1"
    # A level down, with the other digests and ids.
    assert dict(ended.below)["Digest of that"] == short_digest(arguments_digest(changed))


async def test_an_edit_that_changes_nothing_is_a_plain_approval(asked: Asked) -> None:
    await asked.press("edit", inputs={"arguments": "count=1"})
    verdict = await asked.waiting

    assert verdict.approved
    assert verdict.asked_arguments is None


async def test_a_deny_rule_beats_what_a_person_edited(asked: Asked) -> None:
    await asked.press("edit", inputs={"arguments": "command=rm -rf x"})
    verdict = await asked.waiting

    assert not verdict.approved
    assert verdict.line == "deny rule 1"


async def test_an_edit_that_cannot_be_read_changes_nothing_and_stays_open(asked: Asked) -> None:
    answer = await asked.press("edit", inputs={"arguments": "{"})

    assert answer.kind is Answered.INVALID
    assert "not JSON" in answer.problems["arguments"]
    assert not asked.waiting.done()


async def test_edited_arguments_must_fit_the_tools_schema(backend: Backend) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(backend, [chat], ROUTES)
    request = a_request(arguments={"count": 1}).model_copy(update={"arguments_schema": SCHEMA})
    await backend.store.open(request, seconds=30, inbox="", book=None)
    async with working(desk):
        ref, card = await chat.card_where()
        wrong = await desk.press(press_on(ref, card, "edit", inputs={"count": "6"}))
        right = await desk.press(press_on(ref, card, "edit", inputs={"count": "5"}))

    assert (wrong.kind, right.kind) == (Answered.INVALID, Answered.UNHEARD)
    assert wrong.problems == {"count": "this must be at most 5"}


async def test_a_denial_on_its_way_survives_the_desk(backend: Backend) -> None:
    chat = ChatDouble()
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    refusals = Refusals(wait=timedelta(seconds=0.05))
    first = ApprovalWorker(backend, [chat], ROUTES, WorkerOptions(refusals=refusals))
    async with working(first):
        ref, card = await chat.card_where()
        await first.press(press_on(ref, card, "deny-reason"))

    async def denied() -> bool:
        record = await backend.store.get(request.question_id)
        return record is not None and record.ending is not None

    async with working(ApprovalWorker(backend, [chat], ROUTES)):
        await until(denied)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Refusals(wait=timedelta(0)),
        lambda: Refusals(wait=timedelta(minutes=16)),
        lambda: Refusals(reasons=("",)),
        lambda: Refusals(reasons=("x" * 1_001,)),
    ],
)
def test_terms_that_make_no_sense_are_refused(make: Callable[[], Refusals]) -> None:
    with pytest.raises(ConfigError):
        make()
