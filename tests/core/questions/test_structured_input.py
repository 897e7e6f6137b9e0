"""Data that a person fills in: held against its schema on the way out and on the way in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator
from support.chat_double import ChatDouble, press_on, working

from sayso import Collected, Gate, Outcome, RunRef
from sayso.cards.card import Card, Choice, Ended
from sayso.cards.truncation import cut_notice
from sayso.chats.places import Answered, Place
from sayso.errors import InvalidInputError, SchemaError, UnreadableEventError
from sayso.events import StructuredInputRequestEvent, StructuredInputResponseEvent
from sayso.questions.wire import decode, encode
from sayso.stores.memory import memory_backend
from sayso.testing import Filled, Stage
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1", run_id="r-1")
OPS = Place("slack", "C0OPS")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIZE = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "title": "Size"},
        "colour": {"enum": ["red", "green"]},
        "password": {"type": "string"},
    },
    "required": ["size"],
}


class Order(BaseModel):
    size: int
    colour: str = "red"

    @field_validator("size")
    @classmethod
    def _even(cls, size: int) -> int:
        if size % 2:
            raise ValueError("even sizes only")
        return size


def an_input(**fields: object) -> StructuredInputRequestEvent:
    data: dict[str, object] = {
        "request_id": "i-1",
        "source_name": "shop",
        "run": RUN,
        "text": "What shall I order?",
        "json_schema": SIZE,
        "expires_at": NOW + timedelta(minutes=1),
    }
    return StructuredInputRequestEvent.model_validate(data | fields)


async def test_data_is_filled_in_in_the_chat() -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",), tool="structured-input")])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)) as desk,
    ):
        waiting = asyncio.create_task(gate.collect(SIZE, text="What shall I order?"))
        ref, card = await chat.card_where()
        asked = await desk.press(press_on(ref, card, "fill-in"))
        raw = {"size": "3", "colour": "1", "password": "hunter2"}
        told = await desk.press(press_on(ref, card, "fill-in", inputs=raw))
        answer = await waiting
        ended = await chat.ended_card()
        entries = await backend.audit.read(9)

    assert (card.content, [c.label for c in card.choices]) == (
        "What shall I order?",
        ["Fill in…", "Don't answer"],
    )
    assert asked.kind is Answered.ASKED
    assert chat.asked[0][2].form == an_input().card().choices[0].form
    assert told.kind is Answered.RECORDED
    assert answer == Collected(
        Outcome.ANSWERED,
        {"size": 3, "colour": "green", "password": "hunter2"},
        "",
        "slack:U0ALICE",
    )
    assert isinstance(ended.state, Ended)
    assert ended.state.facts == (
        ("Size", "3"),
        ("colour", "green"),
        ("password", "[redacted: 7 characters]"),
    )
    assert [(entry.kind, entry.choice) for entry in entries][1:] == [("answered", "fill-in")]
    assert "hunter2" not in str(entries)


async def test_a_model_in_is_an_instance_out() -> None:
    script = {"structured-input": Filled("fill-in", {"size": 4})}
    async with Stage(answers=script) as stage:
        answer = await stage.gate.collect(Order, text="What?")

    assert answer.data == Order(size=4)


async def test_what_only_the_model_knows_to_be_wrong_is_an_error_at_its_field() -> None:
    script = {"structured-input": Filled("fill-in", {"size": 3})}
    async with Stage(answers=script) as stage:
        with pytest.raises(InvalidInputError) as error:
            await stage.gate.collect(Order, text="What?")

    assert error.value.problems == {"size": "Value error, even sizes only"}


@pytest.mark.parametrize(("script", "outcome"), [("decline", "denied"), (None, "expired")])
async def test_without_an_answer_there_is_no_data(script: str | None, outcome: str) -> None:
    async with Stage(answers={"structured-input": script}) as stage:
        answer = await stage.gate.collect(Order, text="What?")

    assert (answer.outcome.value, answer.data, answer.answered) == (outcome, None, False)
    assert answer.reason.startswith("not filled in")


async def test_a_schema_that_cannot_be_asked_asks_nobody() -> None:
    schema = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "x"}}}}
    async with Stage() as stage:
        with pytest.raises(SchemaError) as error:
            await stage.gate.collect(schema, text="What?")

    assert error.value.pointer == "/properties/tags/items/type"
    assert stage.prompts == []


def test_a_schema_that_cannot_be_asked_is_no_event_either() -> None:
    with pytest.raises(ValidationError, match="/properties/a: it contains itself"):
        an_input(json_schema={"type": "object", "properties": {"a": {"$ref": "#"}}})
    with pytest.raises(UnreadableEventError, match=r"jsonSchema: .*/properties/size/allOf"):
        decode(encode(an_input()).replace(b'"minimum":1', b'"allOf":1'))
    with pytest.raises(ValidationError, match="text"):
        an_input(text=" ")


def test_several_fields_are_confirmed_and_one_is_not() -> None:
    one = {"type": "object", "properties": {"size": {"type": "integer"}}}

    for schema, confirms in ((SIZE, True), (one, False)):
        form = an_input(json_schema=schema).card().choices[0].form
        assert form is not None
        assert form.confirms is confirms


def test_what_cannot_be_seen_in_full_is_not_filled_in() -> None:
    card = Card("h", an_input(text="x" * 99).card(), "", NOW, 50, 500)

    assert [choice.key for choice in card.choices] == ["decline", "show"]
    assert "before it can be filled in" in cut_notice(card)


@pytest.mark.parametrize("data", [{"size": 0}, {"size": "3"}, {}, {"size": 3, "more": 1}])
def test_data_that_the_schema_does_not_allow_is_no_answer(data: Mapping[str, Any]) -> None:
    request = an_input()
    response = StructuredInputResponseEvent(
        request_id="i-1", source_name="shop", decided_at=NOW, data=dict(data)
    )

    with pytest.raises(InvalidInputError):
        request.result(response)
    with pytest.raises(InvalidInputError):
        request.reply(data, by="a:b", at=NOW)


def test_an_unfitting_answer_does_not_break_its_card() -> None:
    response = StructuredInputResponseEvent(
        request_id="i-1", source_name="shop", decided_at=NOW, data={"else": "secret"}
    )

    assert an_input().told(response) == (("Answer", "it does not fit what was asked for"),)


def test_a_choice_of_another_card_means_nothing() -> None:
    with pytest.raises(ValueError, match="no choice 'allow'"):
        an_input().answer(Choice("allow", "Allow"), by="a:b", at=NOW)


def test_the_events_cross_the_wire_in_camel_case_and_the_data_as_it_is() -> None:
    request = an_input()
    response = request.reply({"size": 3, "colour": "red"}, by="slack:U0ALICE", at=NOW)

    assert decode(encode(request)) == request
    assert decode(encode(response)) == response
    assert b'"type":"STRUCTURED_INPUT_REQUEST"' in encode(request)
    assert b'"jsonSchema":{"type":"object"' in encode(request)
    assert b'"data":{"size":3,"colour":"red"}' in encode(response)
