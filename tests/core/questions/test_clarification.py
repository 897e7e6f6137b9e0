"""What an agent needs to know: a question in words, and an answer that somebody really gave."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError
from support.chat_double import ChatDouble, press_on, working

from sayso import Clarification, Gate, Outcome, RulePolicy, RunRef
from sayso.cards.card import Card, Choice, Ended
from sayso.cards.truncation import cut_notice
from sayso.chats.places import Answered, Place
from sayso.errors import InvalidInputError, UnreadableEventError
from sayso.events import ClarificationRequestEvent, ClarificationResponseEvent
from sayso.questions.wire import decode, encode
from sayso.stores.memory import memory_backend
from sayso.testing import Filled, Stage
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1", run_id="r-1")
OPS = Place("slack", "C0OPS")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "Restart the database and all of the services that use it"


def a_question(**fields: object) -> ClarificationRequestEvent:
    data: dict[str, object] = {
        "request_id": "q-1",
        "source_name": "planner",
        "run": RUN,
        "question": "Which region?",
        "expires_at": NOW + timedelta(minutes=1),
    }
    return ClarificationRequestEvent.model_validate(data | fields)


def labels(request: ClarificationRequestEvent) -> list[str]:
    return [choice.label for choice in request.card().choices]


async def test_an_option_is_answered_in_the_chat_by_its_exact_text() -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",), tool="clarification")])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)) as desk,
    ):
        waiting = asyncio.create_task(
            gate.clarify("Which region?", context="for the test", options=["eu ", "us"])
        )
        ref, card = await chat.card_where()
        told = await desk.press(press_on(ref, card, "option-1"))
        answer = await waiting
        ended = await chat.ended_card()

    assert card.content == "Which region?"
    assert card.description == "for the test"
    assert [c.label for c in card.choices] == ["eu ", "us", "Other…", "Don't answer"]
    assert answer == Clarification(Outcome.ANSWERED, "eu ", "", "slack:U0ALICE")
    assert (told.kind, told.text) == (Answered.RECORDED, "Answered.")
    assert isinstance(ended.state, Ended)
    assert ended.state.outcome == "answered"
    assert ended.state.facts == (("Answer", "eu "),)


@pytest.mark.parametrize(("options", "key"), [((), "answer"), (("eu", "us"), "other")])
async def test_an_answer_of_ones_own_is_filled_in(options: tuple[str, ...], key: str) -> None:
    async with Stage(answers={"clarification": Filled(key, {"answer": "ap"})}) as stage:
        answer = await stage.gate.clarify("Which region?", options=options)

    assert answer.answer == "ap"
    assert answer.answered


def test_without_options_there_is_one_button_to_answer_with() -> None:
    answer, decline = a_question().card().choices

    assert (answer.label, decline.label) == ("Answer…", "Don't answer")
    assert answer.form is not None
    assert [(field.name, field.kind, field.multiline) for field in answer.form.fields] == [
        ("answer", "text", True)
    ]


def test_other_can_be_ruled_out() -> None:
    question = a_question(options=("eu", "us"), allow_other=False)

    assert labels(question) == ["eu", "us", "Don't answer"]
    with pytest.raises(ValueError, match="no choice 'other'"):
        question.answer(Choice("other", "x"), by="a:b", at=NOW, inputs={"answer": "ap"})


def test_with_an_option_too_long_for_its_button_all_are_numbered_and_listed_in_full() -> None:
    question = a_question(options=(LONG, "2. Do nothing"), allow_other=False)

    assert labels(question) == [
        "1. Restart the database and a…",
        "2. 2. Do nothing",
        "Don't answer",
    ]
    assert question.card().content == f"Which region?\n\n1. {LONG}\n2. 2. Do nothing"
    answer = question.answer(question.card().choices[0], by="a:b", at=NOW)
    assert answer.answer == LONG


def test_nobody_answers_a_question_that_cannot_be_seen_in_full() -> None:
    card = Card("h", a_question(question="x" * 99, options=("a",)).card(), "", NOW, 50, 500)

    assert [choice.key for choice in card.choices] == ["decline", "show"]
    assert "before it can be answered" in cut_notice(card)


async def test_a_person_may_not_want_to_answer() -> None:
    async with Stage(answers={"clarification": "decline"}) as stage:
        answer = await stage.gate.clarify("Which region?")

    assert answer == Clarification(
        Outcome.DENIED, None, "not answered by test:person", "test:person"
    )


async def test_silence_is_no_answer() -> None:
    async with Stage(answers={"clarification": None}, policy=RulePolicy(default="allow")) as stage:
        answer = await stage.gate.clarify("Which region?", options=["eu"])

    assert answer.outcome is Outcome.EXPIRED
    assert answer.answer is None
    assert answer.reason == "not answered: nobody answered in time"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"question": " \n"}, "question"),
        ({"question": "x" * 20_001}, "question"),
        ({"context": "x" * 20_001}, "context"),
        ({"options": ("a", "")}, r"options\[1\]"),
        ({"options": ("a", " ")}, r"options\[1\]"),
        ({"options": ("a", "a")}, r"options\[1\]"),
        ({"options": ("a\u200b", "a⟨U+200B⟩")}, r"options\[1\]"),
        ({"options": ("Show all",)}, r"options\[0\]"),
        ({"options": ("Show all ",)}, r"options\[0\].*is a button"),
        ({"options": ("show  ALL",)}, r"options\[0\].*is a button"),
        ({"options": ("Don’t answer",)}, r"options\[0\].*is a button"),
        ({"options": ("Other...",)}, r"options\[0\].*is a button"),
        ({"options": ("Yes", "Yes ")}, r"options\[1\].*looks like"),
        ({"options": ("Yes", "ＹＥＳ")}, r"options\[1\].*looks like"),
        ({"options": ("Don't answer",)}, r"options\[0\]"),
        ({"options": tuple(map(str, range(11)))}, "options"),
        ({"options": ("x" * 201,)}, "options"),
    ],
)
def test_a_question_that_cannot_be_asked_names_its_field(
    fields: dict[str, object], told: str
) -> None:
    with pytest.raises(ValidationError, match=told):
        a_question(**fields)


async def test_a_question_that_cannot_be_asked_asks_nobody() -> None:
    async with Stage() as stage:
        with pytest.raises(ValueError, match="look"):
            await stage.gate.clarify("Which?", options=["a", "a"])

    assert stage.prompts == []


def test_nothing_but_white_space_is_no_answer() -> None:
    question = a_question()

    with pytest.raises(InvalidInputError, match="answer: an answer is needed here"):
        question.answer(question.card().choices[0], by="a:b", at=NOW, inputs={"answer": " \n"})


@pytest.mark.parametrize("answer", ["ap", "", " "])
def test_an_answer_that_nobody_could_have_given_is_none(answer: str) -> None:
    question = a_question(options=("eu", "us"), allow_other=False)
    response = ClarificationResponseEvent(
        request_id="q-1", source_name="planner", decided_at=NOW, answer=answer
    )

    found = question.result(response)

    assert (found.outcome, found.answer) == (Outcome.DENIED, None)
    assert "does not answer this question" in found.reason
    with pytest.raises(ValueError, match="not offered"):
        question.reply(answer, by="a:b", at=NOW)


def test_invisible_characters_and_secrets_are_seen_and_hidden_on_the_card() -> None:
    question = a_question(question="use xoxb-1234567890?\u202e", options=("a\nb",))
    told = question.told(question.reply("ghp_" + "a" * 30, by="a:b", at=NOW))

    assert question.card().content == "use [redacted: 15 characters]?⟨U+202E⟩"
    assert labels(question)[0] == "a⏎b"
    assert told == (("Answer", "[redacted: 34 characters]"),)


def test_the_events_cross_the_wire_in_camel_case() -> None:
    request = a_question(options=("eu",), context="because")
    response = request.reply("eu", by="slack:U0ALICE", at=NOW)

    assert decode(encode(request)) == request
    assert decode(encode(response)) == response
    assert b'"type":"CLARIFICATION_REQUEST"' in encode(request)
    assert b'"requestId":"q-1"' in encode(request)
    assert b'"allowOther":true' in encode(request)
    assert b'"type":"CLARIFICATION_RESPONSE"' in encode(response)
    with pytest.raises(UnreadableEventError, match="question"):
        decode('{"type":"CLARIFICATION_REQUEST","sourceName":"planner"}')


def test_the_audit_knows_that_it_was_answered_and_never_what() -> None:
    request = a_question()

    assert request.reply("42", by="a:b", at=NOW).chosen == "answer"
    assert request.deny(by="a:b", at=NOW).chosen == "decline"
