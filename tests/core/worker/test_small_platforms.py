"""A platform with small limits, such as Discord's: what does not fit is said, and never cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.cards.card import Card
from sayso.chats.limits import Limits
from sayso.chats.places import Answered, MessageRef, Place
from sayso.digests import arguments_digest
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

# A select menu of 25 options, a dialog of 5 inputs, a label of 45 characters above each.
DISCORD = Limits(
    content=1_800,
    reveal=50_000,
    fields=5,
    label=45,
    options=25,
    option=100,
    text=2_000,
    dialog=150,
    stores=150,
)
HERE, ELSEWHERE = Place("discord", "1"), Place("telegram", "-1001")
RUN = RunRef("deploy-bot", "s-1")
ALICE = "discord:alice"


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.fixture
def small() -> ChatDouble:
    chat = ChatDouble("discord")
    chat.limits = DISCORD
    return chat


@asynccontextmanager
async def desk_of(backend: Backend, *chats: ChatDouble) -> AsyncIterator[ApprovalWorker]:
    places = tuple(place for place in (HERE, ELSEWHERE) if place.platform in _names(chats))
    routes = Routes([Route(places, approvers=(ALICE, "telegram:42"))])
    async with working(ApprovalWorker(backend, list(chats), routes)) as desk:
        yield desk


def _names(chats: tuple[ChatDouble, ...]) -> set[str]:
    return {chat.platform for chat in chats}


def asks(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


async def shown(
    backend: Backend, chat: ChatDouble, schema: dict[str, Any] | None = None, **arguments: object
) -> tuple[MessageRef, Card]:
    request = a_request(tool="deploy", arguments=arguments, run=RUN)
    request = request.model_copy(update={"arguments_schema": schema})
    await backend.store.open(request, seconds=30, inbox="", book=None)
    return await chat.card_where(lambda card: card.body.title == "deploy")


def keys(card: Card) -> list[str]:
    return [choice.key for choice in (*card.choices, *card.more)]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (
            asks(which={"enum": [f"city {number}" for number in range(26)]}),
            "'which' has 26 options, and 25 fit",
        ),
        (
            asks(**{f"field_{number}": {"type": "string"} for number in range(6)}),
            "the form has 6 fields, and 5 fit",
        ),
        (
            asks(it={"type": "string", "title": "L" * 46}),
            f"the label '{'L' * 46}' has more than 45 characters",
        ),
        (asks(it={"type": "string", "minLength": 2_001}), "needs a text of more than 2,000"),
    ],
)
async def test_a_form_beyond_the_limits_is_asked_elsewhere_or_ends_with_the_reason(
    backend: Backend, small: ChatDouble, schema: dict[str, Any], reason: str
) -> None:
    wide = ChatDouble("telegram")
    async with Gate.open(backend, run=RUN, timeout=20) as gate:
        async with desk_of(backend, small, wide) as desk:
            waiting = asyncio.create_task(gate.collect(schema, text="Which?"))
            ref, card = await wide.card_where()
            await desk.press(press_on(ref, card, "decline", by="telegram:42"))
            assert (await waiting).outcome is Outcome.DENIED
        async with desk_of(backend, small):
            nowhere = await gate.collect(schema, text="Which?")

    assert small.cards == {}
    assert nowhere.outcome is Outcome.UNDELIVERABLE
    assert "discord cannot ask this: 'Fill in…' cannot be asked for" in nowhere.reason
    assert reason in nowhere.reason


async def test_arguments_whose_form_does_not_fit_can_be_decided_and_not_edited(
    backend: Backend, small: ChatDouble
) -> None:
    schema = asks(**{f"field_{number}": {"type": "string"} for number in range(6)})
    arguments: dict[str, Any] = {f"field_{number}": "x" for number in range(6)}
    async with desk_of(backend, small) as desk:
        ref, card = await shown(backend, small, schema, **arguments)
        pressed = await desk.press(press_on(ref, card, "edit", by=ALICE))
        allowed = await desk.press(press_on(ref, card, "allow", by=ALICE))

    assert "edit" not in keys(card)
    assert {"allow", "deny", "deny-reason", "changes"} <= set(keys(card))
    assert (
        "Not offered here",
        "Edit arguments…: the form has 6 fields, and 5 fit",
    ) in card.body.facts
    assert (pressed.kind, small.asked) == (Answered.REFUSED, [])
    assert allowed.kind in (Answered.RECORDED, Answered.UNHEARD)


async def test_a_form_that_fits_one_place_alone_is_offered_there_alone(
    backend: Backend, small: ChatDouble
) -> None:
    wide = ChatDouble("telegram", limit=5_000)
    small.limits = replace(DISCORD, content=5_000)
    text: dict[str, Any] = {"text": "x" * 2_500}
    async with desk_of(backend, small, wide):
        _, narrow_card = await shown(backend, small, **text)
        _, wide_card = await wide.card_where()

    assert "edit" not in keys(narrow_card)
    assert "edit" in keys(wide_card)


async def test_always_is_said_in_the_words_that_fit_and_stores_the_same_rule(
    backend: Backend, small: ChatDouble
) -> None:
    wide = ChatDouble("telegram")
    async with desk_of(backend, small, wide) as desk:
        ref, here = await shown(backend, small, text="x" * 200)
        _, there = await wide.card_where()
        await desk.press(press_on(ref, here, "always", by=ALICE))
    (kept,) = await backend.rules.all()

    said_here = next(choice for choice in here.choices if choice.key == "always").stores
    said_there = next(choice for choice in there.choices if choice.key == "always").stores
    assert "all of them as this card shows them" in said_here
    assert len(said_here) <= 150
    assert "x" * 200 in said_there
    call = ToolCall("deploy", {"text": "x" * 200})
    assert kept.remembered.rule.arguments_digest == arguments_digest(call.arguments)


async def test_what_would_be_stored_is_never_cut_but_left_out_with_the_reason(
    backend: Backend, small: ChatDouble
) -> None:
    small.limits = replace(DISCORD, dialog=60, stores=60)
    async with desk_of(backend, small) as desk:
        ref, card = await shown(backend, small, text="x")
        always = await desk.press(press_on(ref, card, "always", by=ALICE))
        denied = await desk.press(press_on(ref, card, "deny", by=ALICE))

    assert {"allow", "deny"} <= set(keys(card))
    assert not [choice for choice in (*card.choices, *card.more) if choice.stores]
    assert "Always: what it would store has" in dict(card.body.facts)["Not offered here"]
    assert always.kind is Answered.REFUSED
    assert await backend.rules.all() == []
    assert denied.kind in (Answered.RECORDED, Answered.UNHEARD)


async def test_a_button_that_is_needed_and_does_not_fit_keeps_the_question_away(
    backend: Backend, small: ChatDouble
) -> None:
    small.limits = replace(DISCORD, button=10)
    async with (
        Gate.open(backend, run=RUN, timeout=20) as gate,
        desk_of(backend, small),
    ):
        asked = await gate.clarify("Where?", options=["in the north", "here"])

    assert asked.outcome is Outcome.UNDELIVERABLE
    assert "its label has 12 characters, and 10 fit" in asked.reason
    assert small.cards == {}
