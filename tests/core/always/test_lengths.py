"""For how long: a session, or an agent's project for a day or for a month, from the press on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from support.chat_double import ChatDouble, press_on
from support.clock import Clock
from support.room import OPS, ChatRoom

from sayso import Outcome, RunRef, ToolCall
from sayso.always.terms import GrantOptions
from sayso.cards.card import Card, CardBody, Choice, Ended, Open
from sayso.chats.limits import Limits
from sayso.rules.rule import Rule
from sayso.stores.backend import Backend
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

CALL = ToolCall("bash", {"command": "git status"})
SHOP = RunRef("deploy-bot", "s-1", project="/src/shop")
LATER, ELSEWHERE = RunRef("deploy-bot", "s-2", project="/src/shop"), RunRef("deploy-bot", "s-2")
DAY, MONTH = timedelta(days=1), timedelta(days=30)


def always(run: RunRef, terms: GrantOptions | None = None, key: str = "always") -> Choice:
    body = a_request(tool="bash", arguments=dict(CALL.arguments), run=run).card()
    choice = next(one for one in (*body.choices, *body.more) if one.key == key)
    allowed = (terms or GrantOptions()).lengths(choice)
    assert allowed is not None
    return allowed


def test_an_always_holds_for_a_session_or_for_its_project_for_a_day_or_for_a_month() -> None:
    choice = always(SHOP)

    found = [(one.key, one.scope, one.lasts, one.step) for one in (choice, *choice.longer)]
    assert found == [
        ("always", "session", DAY, "This session, 1 day"),
        ("always-day", "project", DAY, "This project, 1 day"),
        ("always-project", "project", MONTH, "This project, 30 days"),
    ]
    assert choice.stores.endswith("in session s-1, for 1 day")
    assert choice.longer_said == (
        "; or in all sessions of agent deploy-bot that name their project /src/shop, "
        "for 1 day or 30 days"
    )
    denial = always(SHOP, key="deny-always")
    assert [one.key for one in denial.longer] == ["deny-always-day", "deny-always-project"]


def test_a_project_is_never_offered_where_the_agent_gave_none() -> None:
    assert always(RunRef("deploy-bot", "s-1")).longer == ()


@pytest.mark.parametrize(
    ("terms", "kept"),
    [
        (GrantOptions(scopes=frozenset({"session"})), ["always"]),
        (GrantOptions(scopes=frozenset({"project"})), ["always-day", "always-project"]),
        (GrantOptions(project_for=DAY), ["always", "always-day"]),
        (GrantOptions(project_for=timedelta(hours=1)), ["always", "always-day"]),
    ],
)
def test_settings_say_for_how_long_is_offered(terms: GrantOptions, kept: list[str]) -> None:
    choice = always(SHOP, terms)

    assert [one.key for one in (choice, *choice.longer)] == kept
    assert all(one.lasts and one.lasts <= max(terms.project_for, DAY) for one in choice.longer)


def test_a_place_without_room_for_all_lengths_offers_the_session_alone() -> None:
    body = a_request(tool="bash", arguments=dict(CALL.arguments), run=SHOP).card()
    choices = tuple(
        filter(None, (GrantOptions().lengths(one) for one in body.choices if one.stores))
    )
    [whole] = (
        Limits(content=10, reveal=10, lengths=True).fitted(replace_choices(body, choices)).choices
    )
    short = Limits(content=10, reveal=10, lengths=True, stores=len(whole.stores) - 1)
    [small] = short.fitted(replace_choices(body, choices)).choices

    [plain] = Limits(content=10, reveal=10).fitted(replace_choices(body, choices)).choices

    assert len(whole.longer) == 2
    assert plain.longer == ()
    assert plain.stores.endswith("in session s-1, for 1 day")
    assert whole.stores.endswith("that name their project /src/shop, for 1 day or 30 days")
    assert small.longer == ()
    assert small.stores.endswith("in session s-1, for 1 day")


def replace_choices(body: CardBody, choices: tuple[Choice, ...]) -> CardBody:

    return replace(body, choices=choices, more=())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def room(backend: Backend, clock: Clock) -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    desk = ApprovalWorker(backend, [chat], routes, WorkerOptions(terms=GrantOptions()), clock=clock)
    async with ChatRoom.open(backend, desk, {"run": SHOP}, chat=chat) as room:
        yield room


async def test_what_is_stored_for_a_project_counts_in_its_next_session_from_the_press_on(
    room: ChatRoom, clock: Clock
) -> None:
    waiting, ref, card = await room.asked(CALL)
    clock.pass_by(20)
    pressed_at = clock()

    first = await room.desk.press(press_on(ref, card, "always", confirmed=False))
    _, sure = await room.chat.card_where(lambda card: bool(confirmed(card)))
    await room.desk.press(press_on(ref, sure, "always-project"))

    assert "see the card" in first.text
    assert [one.step for one in confirmed(sure)] == [
        "This session, 1 day",
        "This project, 1 day",
        "This project, 30 days",
    ]
    assert (await waiting).approved
    [kept] = await room.backend.rules.all()
    assert (kept.project, kept.session_id) == ("name:/src/shop", "")
    assert kept.remembered.expires_at == pressed_at + MONTH
    assert await room.unanswered(CALL, LATER) is Outcome.APPROVED
    assert await room.unanswered(CALL, ELSEWHERE) is Outcome.EXPIRED
    _, ended = await room.chat.card_where(
        lambda card: any(choice.key == "revoke" for choice in card.choices)
    )
    assert "in all sessions of agent deploy-bot that name their project /src/shop" in str(
        ended.state
    )
    assert isinstance(ended.state, Ended)
    assert ended.state.until is not None


async def test_an_always_deny_for_a_project_denies_in_its_next_session(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    await room.desk.press(press_on(ref, card, "deny-always-project"))

    assert not (await waiting).approved
    assert await room.unanswered(CALL, LATER) is Outcome.DENIED
    assert await room.unanswered(CALL, ELSEWHERE) is Outcome.EXPIRED


def test_the_wider_widths_of_a_call_can_be_kept_for_its_project() -> None:
    request = a_request(tool="bash", arguments=dict(CALL.arguments), run=SHOP)
    rules = (*request.suggested_rules, Rule("bash", {"command": "git *"}), Rule("bash"))
    body = request.model_copy(update={"suggested_rules": rules}).card()
    keys = {one.key: [longer.key for longer in one.longer] for one in body.more if one.stores}

    assert keys["always-2"] == ["always-2-day", "always-2-project"]
    assert keys["window"] == keys["agent"] == []


def confirmed(card: Card) -> tuple[Choice, ...]:
    if not isinstance(card.state, Open) or card.state.confirming is None:
        return ()
    choice = card.state.confirming
    return (choice, *choice.longer)
