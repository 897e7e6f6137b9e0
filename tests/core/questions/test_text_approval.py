"""A text that a person approves is used as it was shown, or not at all."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError
from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, Outcome, RunRef, TextApproval
from sayso.cards.card import Card, Choice, Ended
from sayso.chats.places import Answered, Place
from sayso.errors import ArgumentsChangedError, InvalidInputError
from sayso.events import TextApprovalRequestEvent, TextApprovalResponseEvent
from sayso.questions.wire import decode, encode
from sayso.stores.memory import memory_backend
from sayso.testing import Filled, Stage
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1", run_id="r-1")
OPS = Place("slack", "C0OPS")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DRAFT = "Dear all,\nthe service will be down on Sunday."


def a_draft(**fields: object) -> TextApprovalRequestEvent:
    data: dict[str, object] = {
        "request_id": "t-1",
        "source_name": "writer",
        "run": RUN,
        "title": "E-mail to all",
        "text": DRAFT,
        "expires_at": NOW + timedelta(minutes=1),
    }
    return TextApprovalRequestEvent.model_validate(data | fields)


async def test_a_text_is_approved_in_the_chat_as_it_was_shown() -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",), tool="text-approval")])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)) as desk,
    ):
        waiting = asyncio.create_task(
            gate.approve_text(DRAFT, title="E-mail to all", context="as agreed")
        )
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, "approve"))
        answer = await waiting
        (entry,) = [entry for entry in await backend.audit.read(9) if entry.kind == "approved"]

    assert (card.body.title, card.content, card.description) == (
        "E-mail to all",
        DRAFT,
        "as agreed",
    )
    assert [c.label for c in card.choices] == ["Approve", "Deny"]
    assert [c.label for c in card.more] == ["Ask for changes…", "Deny with a reason…"]
    assert answer == TextApproval(Outcome.APPROVED, DRAFT, "", "slack:U0ALICE")
    assert card.body.digest == hashlib.sha256(DRAFT.encode()).hexdigest()[:12]
    assert (entry.digest[:12], entry.choice) == (card.body.digest, "approve")


@pytest.mark.parametrize(("key", "changes"), [("changes", True), ("deny-reason", False)])
async def test_a_no_can_say_why_and_whether_changes_would_make_it_a_yes(
    key: str, changes: bool
) -> None:
    script = {"text-approval": Filled(key, {"reason": " shorter \n"})}
    async with Stage(answers=script) as stage:
        answer = await stage.gate.approve_text(DRAFT)

    assert answer == TextApproval(Outcome.DENIED, None, "shorter", "test:person", changes)
    assert not answer.approved


@pytest.mark.parametrize(("script", "outcome"), [("deny", "denied"), (None, "expired")])
async def test_without_an_approval_there_is_no_text(script: str | None, outcome: str) -> None:
    async with Stage(answers={"text-approval": script}) as stage:
        answer = await stage.gate.approve_text(DRAFT)

    assert (answer.outcome.value, answer.text) == (outcome, None)


async def test_a_long_text_is_approved_only_after_all_of_it_was_shown() -> None:
    chat = ChatDouble(limit=200)
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)) as desk,
    ):
        waiting = asyncio.create_task(gate.approve_text("a line\n" * 500))
        ref, card = await chat.card_where()
        early = await desk.press(press_on(ref, card, "approve"))
        await desk.press(press_on(ref, card, "show"))
        await desk.press(press_on(ref, card, "approve"))
        answer = await waiting

    assert early.kind is Answered.REFUSED
    assert "before it can be approved" in early.text
    assert [c.key for c in card.choices] == ["deny", "show"]
    assert chat.revealed[0][1].startswith("a line\n" * 500 + "\n\n▌ Digest\n")
    assert answer.approved


@pytest.mark.parametrize(
    ("key", "outcome", "told"),
    [("changes", "denied", (("Asked for", "changes"),)), ("deny-reason", "denied", ())],
)
async def test_a_no_that_says_more_is_asked_for_in_the_chat(
    key: str, outcome: str, told: tuple[tuple[str, str], ...]
) -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)) as desk,
    ):
        waiting = asyncio.create_task(gate.approve_text(DRAFT))
        ref, card = await chat.card_where()
        asked = await desk.press(press_on(ref, card, key))
        late = await desk.press(press_on(ref, card, key, inputs={"reason": "shorter"}))
        answer = await waiting
        ended = await chat.ended_card()

    assert (asked.kind, late.kind) == (Answered.ASKED, Answered.RECORDED)
    assert (answer.outcome.value, answer.reason) == (outcome, "shorter")
    assert isinstance(ended.state, Ended)
    assert (ended.state.reason, ended.state.facts) == ("shorter", told)


def test_a_text_too_long_for_the_chat_can_only_be_denied() -> None:
    card = Card("h", a_draft(text="x" * 999).card(), "", NOW, 50, 500)

    assert [choice.key for choice in (*card.choices, *card.more)] == [
        "deny",
        "changes",
        "deny-reason",
    ]


def test_the_approval_of_another_text_is_an_error() -> None:
    response = a_draft(text="another").approve(by="a:b", at=NOW)

    with pytest.raises(ArgumentsChangedError, match="not the one that was approved"):
        a_draft().result(response)


def test_an_ending_of_another_kind_approves_nothing() -> None:
    found = a_draft().result(a_draft().cancelled(at=NOW, reason="no longer needed"))

    assert found.outcome is Outcome.CANCELLED
    assert found.reason == "not approved: the question was cancelled: no longer needed"


def test_a_reason_of_white_space_is_none() -> None:
    draft = a_draft()
    for choice in draft.card().more:
        with pytest.raises(InvalidInputError, match="reason: an answer is needed here"):
            draft.answer(choice, by="a:b", at=NOW, inputs={"reason": " "})
    with pytest.raises(ValueError, match="no choice 'allow'"):
        draft.answer(Choice("allow", "Allow"), by="a:b", at=NOW)


def test_a_denial_with_a_reason_counts_without_one_in_time() -> None:
    falls_back = {choice.key: choice.falls_back for choice in a_draft().card().more}

    assert falls_back == {"changes": "", "deny-reason": "deny"}


def test_secrets_in_a_text_are_hidden_and_counted() -> None:
    body = a_draft(text="token xoxb-1234567890").card()

    assert body.content == "token [redacted: 15 characters]"
    assert ("Not shown", "1 value that looks like a secret; it is approved as it is") in body.facts


def test_a_text_cannot_make_a_card_say_that_something_in_it_is_hidden() -> None:
    body = a_draft(text="[redacted: 9 characters] and [redacted: 2 characters]").card()

    assert "Not shown" not in dict(body.facts)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"text": " "}, "text: it is empty"),
        ({"title": ""}, "title: it is empty"),
        ({"text": "x" * 200_001}, "text"),
        ({"title": "x" * 201}, "title"),
        ({"context": "x" * 20_001}, "context"),
    ],
)
def test_what_cannot_be_shown_names_its_field(fields: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        a_draft(**fields)


def test_the_events_cross_the_wire_in_camel_case() -> None:
    request = a_draft(context="because")
    response = request.deny(by="slack:U0ALICE", at=NOW, reason="shorter", asks_for_changes=True)

    assert decode(encode(request)) == request
    assert decode(encode(response)) == response
    assert isinstance(response, TextApprovalResponseEvent)
    assert response.chosen == "changes"
    assert b'"type":"TEXT_APPROVAL_REQUEST"' in encode(request)
    assert b'"asksForChanges":true' in encode(response)
