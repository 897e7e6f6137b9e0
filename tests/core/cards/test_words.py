"""The words of cards and of the desk: one table each, and a second language is a second table."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from string import Formatter

import pytest
from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, RunRef, ToolCall
from sayso.cards.bundle import Bundle
from sayso.cards.card import Card, CardBody
from sayso.cards.left_out import cut_notice
from sayso.cards.origin import asker, details, origin
from sayso.cards.words import ENGLISH
from sayso.chats.places import Answered, Place
from sayso.clock import utc_now
from sayso.desk import words as desk_words
from sayso.desk.desk import Desk, DeskOptions
from sayso.desk.routes import Route, Routes
from sayso.stores.memory.backend import memory_backend
from sayso.testing import a_request
from sayso.text.counted import Counted
from sayso.values import one_value

GERMAN = replace(
    ENGLISH,
    show_all="Alles zeigen",
    cut_content="Hier fehlt: {parts}",
    press_first="{missing}: erst {show_all}.",
    waiting=Counted("{count} Aufruf wartet", "{count} Aufrufe warten"),
    all_decided=Counted("Der Aufruf ist entschieden", "Alle {count} Aufrufe sind entschieden"),
)


def a_card(handle: str = "a", *, limit: int = 2_000, words: object = ENGLISH) -> Card:
    return Card(
        handle,
        CardBody("bash", values=one_value("x" * 100)),
        "deploy-bot",
        utc_now(),
        limit,
        50_000,
        words=GERMAN if words is GERMAN else ENGLISH,
    )


def test_a_card_speaks_the_language_it_is_given() -> None:
    card = a_card(limit=50, words=GERMAN)

    assert cut_notice(card) == "Hier fehlt: 1 more line (52 characters): erst Alles zeigen."
    assert card.choices[-1].label == "Alles zeigen"
    assert card.choices[-1].key == "show"


def test_a_bundle_speaks_the_language_of_its_cards() -> None:
    bundle = Bundle((a_card("a", words=GERMAN), a_card("b", words=GERMAN)))

    assert bundle.title == "2 Aufrufe warten"


@pytest.mark.parametrize(("count", "said"), [(1, "1 call is waiting"), (2, "2 calls are waiting")])
def test_a_count_agrees_with_its_verb(count: int, said: str) -> None:
    assert ENGLISH.waiting.of(count) == said


@pytest.mark.parametrize("table", [ENGLISH, desk_words.ENGLISH])
def test_every_template_can_be_read(table: object) -> None:
    for name in table.__dataclass_fields__:  # type: ignore[attr-defined]
        value = getattr(table, name)
        for template in (value.one, value.other) if isinstance(value, Counted) else (value,):
            if isinstance(template, str):
                assert template
                assert all(field != "" for _, field, _, _ in Formatter().parse(template))


async def test_the_desk_answers_in_the_language_it_is_given() -> None:
    words = replace(
        desk_words.ENGLISH,
        not_allowed="Das darfst du nicht entscheiden.",
        questions=replace(desk_words.ENGLISH.questions, cards=GERMAN),
    )
    chat, place = ChatDouble(limit=20), Place("slack", "C0OPS")
    routes = Routes([Route((place,), approvers=("slack:U0ALICE",))])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=20) as gate,
        working(Desk(backend, [chat], routes, DeskOptions(words={"en": words}))) as desk,
    ):
        check = asyncio.create_task(gate.check(ToolCall("bash", {"command": "x" * 100})))
        ref, card = await chat.card_where()

        stranger = await desk.press(press_on(ref, card, "allow", by="slack:U0MALLORY"))

        assert stranger.kind is Answered.REFUSED
        assert stranger.text == "Das darfst du nicht entscheiden."
        assert "Hier fehlt" in cut_notice(card)
        check.cancel()


def test_who_asks_and_where_from_is_said_on_one_line_each() -> None:
    request = a_request().model_copy(
        update={
            "run": RunRef("deploy-bot", "s-1", branch_id="b-2"),
            "path": ("plan\nrelease",),
            "source_name": "worker",
            "requested_by": "carol",
        }
    )

    assert asker(request) == "deploy-bot › plan⏎release"
    assert origin(request) == (("Requested by", "carol"),)
    assert details(request) == (
        ("Source", "worker"),
        ("Session", "s-1 / b-2"),
        ("Request", request.permission_id),
    )
