"""Which language is said: that of the route in its place, or what a place or a person suggests."""

from __future__ import annotations

from datetime import UTC, datetime, time
from functools import cached_property
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from pydantic import PrivateAttr
from support.caller_double import calling_room
from support.chat_double import ChatDouble

from sayso import ConfigError, RunRef
from sayso.always.terms import GrantOptions
from sayso.calling.hours import Quiet
from sayso.calling.manners import Calling
from sayso.cards.card import CardBody
from sayso.chats.places import Place
from sayso.events import UserInputRequest
from sayso.locales import locale_of
from sayso.questions.refusals import Refusals
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock, a_request
from sayso.worker.card_builder import CardBuilder, Localizer
from sayso.worker.routing import Route, Routes

OPS, FREIGABE = Place("slack", "C0OPS"), Place("slack", "C0DE")
GROUP, ELSEWHERE = Place("telegram", "-100"), Place("telegram", "-1009")
ANA, ULI = "slack:U0ANA", "slack:U0ULI"
ROUTES = Routes(
    [
        Route((FREIGABE, GROUP), approvers=(ULI,), tool="zahle", language="de"),
        Route((OPS, FREIGABE), approvers=(ANA,), tool="pay", languages=((FREIGABE, "de"),)),
        Route((OPS,), approvers=(ANA, ULI)),
    ]
)


@pytest.mark.parametrize(
    ("tool", "place", "language"),
    [
        ("zahle", FREIGABE, "de"),
        ("zahle", GROUP, "de"),
        ("pay", OPS, "en"),
        ("pay", FREIGABE, "de"),
        ("bash", OPS, "en"),
    ],
)
def test_a_card_speaks_the_language_of_its_route_in_its_place(
    tool: str, place: Place, language: str
) -> None:
    request = a_request().model_copy(update={"function_name": tool})

    assert ROUTES.language_of(request, place) == language


def test_a_chat_that_has_moved_keeps_its_language() -> None:
    route = Route((OPS, GROUP), languages=((GROUP, "de"),))

    assert route.language_in(ELSEWHERE) == "de"
    assert route.language_in(Place("slack", "D0ANA")) == ""


def test_what_is_about_no_card_is_said_as_the_cards_of_the_place_are() -> None:
    assert ROUTES.language_at(GROUP) == "de"
    assert ROUTES.language_at(FREIGABE) == "de"
    assert ROUTES.language_at(OPS) == "en"
    assert ROUTES.language_at(Place("slack", "C0DE", "17.5")) == "de"


class Keeping(UserInputRequest):
    """A kind of somebody's own that keeps what it once said, in two ways."""

    type: Literal["KEEPING"] = "KEEPING"
    keeping_id: str = "k-1"
    _said: str = PrivateAttr(default="")

    @property
    def question_id(self) -> str:
        return self.keeping_id

    @property
    def subject(self) -> str:
        return "pay"

    @cached_property
    def words(self) -> str:
        return self.translations.gettext("Allow")

    def card(self) -> CardBody:
        self._said = self._said or self.translations.gettext("Deny")
        return CardBody(locale_of(self.translations), f"{self.words} {self._said}")


async def test_a_kind_that_keeps_what_it_said_says_it_in_the_language_of_each_card() -> None:
    request = Keeping(source_name="s", run=RunRef("a", "b"))
    chat = ChatDouble("slack")
    speech = Localizer(ROUTES)
    maker = CardBuilder(
        {"slack": chat}, ROUTES, terms=GrantOptions(), refusals=Refusals(), speech=speech
    )

    bodies = [await maker.body(request, place) for place in (OPS, FREIGABE, OPS)]

    assert [(body.title, body.description) for body in bodies] == [
        ("en", "Allow Deny"),
        ("de", "Erlauben Ablehnen"),
        ("en", "Allow Deny"),
    ]


def test_where_no_card_stands_it_is_said_as_all_cards_of_a_person_are_or_else_by_default() -> None:
    home = Place("slack", "home")
    only = Routes([Route((FREIGABE,), approvers=(ULI,), language="de"), Route((OPS,), (ANA,))])

    assert only.language_at(home, ULI) == "de"
    assert only.language_at(home, ANA) == "en"
    assert only.language_at(home, "slack:U0NOBODY") == "en"
    assert ROUTES.language_at(home, ULI) == "en"  # theirs are in two languages


def test_a_language_without_a_catalog_is_refused_before_anything_is_shown() -> None:
    with pytest.raises(ConfigError, match="there is no translation into 'fr', only into de, en"):
        Localizer(Routes([Route((OPS,), language="fr")]))


NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)


async def test_people_are_called_reminded_and_left_alone_in_the_language_of_the_route() -> None:
    loud, quiet = Calling(remind=(60.0,)), Calling(quiet=Quiet(time(11), time(13), ZoneInfo("UTC")))
    clock = StoppedClock(NOON)
    async with (
        memory_backend(clock=clock) as backend,
        calling_room(backend, clock, loud, language="de") as room,
    ):
        await room.ask()
        assert room.card().call.lead == "Für"
        await room.later(minutes=2)
        ((_, waiting, _),) = room.caller.reminders
        assert [one.language for one in waiting] == ["de"]
    async with (
        memory_backend(clock=clock) as backend,
        calling_room(backend, clock, quiet, language="de") as room,
    ):
        await room.ask()
        assert room.card().call.note.startswith("Ruhezeit bis 13:00 UTC: niemand wird gerufen.")
