"""What a press of Always does to later calls of a session, and to nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, RUN, ChatRoom

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.always.terms import GrantOptions
from sayso.cards.card import Card, Open
from sayso.chats.places import Answered, MessageRef
from sayso.clock import utc_now
from sayso.errors import ReplayedCallbackError
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.rule import Rule, Scope
from sayso.stores.backend import Backend
from sayso.testing import until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

STATUS, PUSH, LS = (
    ToolCall("bash", {"command": command}) for command in ("git status", "git push", "ls")
)
SCOPES: frozenset[Scope] = frozenset({"session", "agent", "tool-window"})


class Room(ChatRoom):
    """A running session, a desk and its chat."""

    async def ask_with_widths(
        self, call: ToolCall = STATUS
    ) -> tuple[PermissionRequestEvent, MessageRef, Card]:
        """A card that offers the call, its program and its tool."""
        request = await self.offer(call, Rule("bash", {"command": "git *"}), Rule("bash"))
        ref, card = await self.chat.card_where(lambda card: isinstance(card.state, Open))
        return request, ref, card

    async def choose(self, key: str) -> PermissionResponseEvent:
        """Ask about `git status` and store what this choice stands for."""
        request, ref, card = await self.ask_with_widths()
        answer = await self.desk.press(press_on(ref, card, key))
        assert answer.kind is Answered.UNHEARD
        record = await self.backend.store.get(request.question_id)
        assert record is not None
        assert isinstance(record.ending, PermissionResponseEvent)
        return record.ending

    async def decided(self, call: ToolCall, session: str = "s-1", agent: str = "deploy-bot") -> str:
        """What becomes of a call; nobody answers when it is asked about."""
        outcome = await self.unanswered(call, RunRef(agent, session))
        return "asked" if outcome is Outcome.EXPIRED else outcome.value


@asynccontextmanager
async def a_room(
    backend: Backend, terms: GrantOptions, clock: Callable[[], datetime] = utc_now
) -> AsyncIterator[Room]:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))], {})
    desk = ApprovalWorker(backend, [chat], routes, WorkerOptions(terms=terms), clock=clock)
    async with Room.open(backend, desk, chat=chat) as room:
        yield room


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[Room]:
    async with a_room(backend, GrantOptions(scopes=SCOPES)) as room:
        yield room


def remembered(card: Card) -> list[str]:
    """The choices a level down that store something."""
    return [choice.key for choice in card.more if choice.stores]


async def test_a_gate_offers_the_widths_of_a_call(room: Room) -> None:
    asking = asyncio.create_task(room.gate.check(LS))
    ref, card = await room.chat.card_where()

    await room.desk.press(press_on(ref, card, "always-2"))

    assert remembered(card)[:2] == ["always-2", "window"]
    assert (await asking).approved
    assert await room.decided(ToolCall("bash", {"command": "ls -la /srv"})) == "approved"
    assert await room.decided(ToolCall("bash", {"command": "ls; rm x"})) == "asked"
    assert await room.decided(ToolCall("bash", {"command": "ls", "shell": "/tmp/x"})) == "asked"


async def test_always_means_this_call_and_no_other(room: Room) -> None:
    response = await room.choose("always")

    assert response.choice == "always_allow"
    assert await room.decided(STATUS) == "approved"
    assert await room.decided(PUSH) == "asked"
    assert await room.decided(STATUS, "s-2") == "asked"


async def test_a_wider_always_means_what_was_shown(room: Room) -> None:
    response = await room.choose("always-2")

    assert response.rule == Rule("bash", {"command": "git *"})
    assert await room.decided(PUSH) == "approved"
    assert await room.decided(LS) == "asked"


async def test_always_deny_is_not_asked_again(room: Room) -> None:
    response = await room.choose("deny-always")

    assert (response.approved, response.choice) == (False, "always_deny")
    assert await room.decided(STATUS) == "denied"
    assert await room.decided(PUSH) == "asked"


async def test_always_for_the_agent_means_all_of_its_sessions(room: Room) -> None:
    await room.choose("agent")

    assert await room.decided(STATUS, "s-2") == "approved"
    assert await room.decided(PUSH, "s-2") == "asked"
    assert await room.decided(STATUS, "s-1", agent="other-bot") == "asked"


async def test_a_window_means_the_whole_tool_for_minutes(room: Room) -> None:
    before = utc_now()

    response = await room.choose("window")

    assert await room.decided(LS) == "approved"
    assert await room.decided(ToolCall("rm")) == "asked"
    assert await room.decided(LS, "s-2") == "asked"
    assert response.rule_expires_at is not None
    assert response.rule_expires_at - before < timedelta(minutes=16)


@pytest.mark.parametrize("key", ["always", "always-2", "agent", "window", "deny-always"])
async def test_a_revoked_rule_asks_again_at_once_in_a_running_session(room: Room, key: str) -> None:
    await room.choose(key)
    async with Gate.open(room.backend, run=RUN, timeout=0.2) as running:
        before = await running.check(STATUS)
        [kept] = await room.backend.rules.all()

        await room.backend.rules.revoke(kept.remembered.rule_id, by="cli:me")
        after = await running.check(STATUS)

    assert before.outcome in (Outcome.APPROVED, Outcome.DENIED)
    assert after.outcome is Outcome.EXPIRED


async def test_an_expired_rule_asks_again(backend: Backend) -> None:
    short = GrantOptions(remember_for=timedelta(seconds=1))
    async with a_room(backend, short) as room:
        await room.choose("always")
        assert await room.decided(STATUS) == "approved"

        async def is_gone() -> bool:
            return not await backend.rules.all()

        await until(is_gone)

        assert await room.decided(STATUS) == "asked"


async def test_only_what_the_settings_allow_is_offered(backend: Backend) -> None:
    async with a_room(backend, GrantOptions()) as room:
        _, ref, card = await room.ask_with_widths()

        for key in ("agent", "window", "always-3"):
            answer = await room.desk.press(press_on(ref, card, key))
            assert answer.kind is Answered.REFUSED

    assert remembered(card) == ["always-2", "deny-always"]


async def test_without_scopes_nothing_can_be_remembered(backend: Backend) -> None:
    async with a_room(backend, GrantOptions(scopes=frozenset())) as room:
        _, ref, card = await room.ask_with_widths()
        answer = await room.desk.press(press_on(ref, card, "always"))

    assert [choice.key for choice in card.choices] == ["allow", "deny"]
    assert remembered(card) == []
    assert answer.kind is Answered.REFUSED


async def test_every_choice_that_stores_is_confirmed_and_says_for_how_long(room: Room) -> None:
    _, ref, card = await room.ask_with_widths()
    stored = [choice for choice in (*card.choices, *card.more) if choice.stores]

    for choice in stored:
        answer = await room.desk.press(press_on(ref, card, choice.key, confirmed=False))
        assert answer.kind is Answered.CONFIRM

    assert await room.backend.rules.all() == []
    ends = {choice.key: choice.stores.rpartition(", for ")[2] for choice in stored}
    assert ends.pop("window") == "15 minutes"
    assert set(ends.values()) == {"1 day"}


async def test_the_wrong_person_neither_opens_the_menu_nor_stores_anything(room: Room) -> None:
    _, ref, card = await room.ask_with_widths()

    for key in ("more", *(choice.key for choice in card.more), "always"):
        for confirmed in (False, True):
            press = press_on(ref, card, key, by="slack:U0MALLORY", confirmed=confirmed)
            assert (await room.desk.press(press)).kind is Answered.REFUSED

    assert room.chat.cards[ref].state == Open()
    assert await room.backend.rules.all() == []


async def test_more_shows_the_choices_below_and_back_returns(room: Room) -> None:
    _, ref, card = await room.ask_with_widths()

    await room.desk.press(press_on(ref, card, "more"))
    await room.chat.card_where(lambda card: card.state == Open(more=True))
    await room.desk.press(press_on(ref, card, "back"))
    await room.chat.card_where(lambda card: card.state == Open())


async def test_a_replayed_choice_stores_nothing(room: Room) -> None:
    _, ref, card = await room.ask_with_widths()
    await room.desk.press(press_on(ref, card, "more", delivery="d-1"))

    with pytest.raises(ReplayedCallbackError):
        await room.desk.press(press_on(ref, card, "always-2", delivery="d-1"))

    assert await room.backend.rules.all() == []


async def test_of_many_different_choices_at_once_one_is_stored(room: Room) -> None:
    _, ref, card = await room.ask_with_widths()

    answers = await asyncio.gather(
        *(room.desk.press(press_on(ref, card, key)) for key in remembered(card))
    )

    assert [answer.kind for answer in answers].count(Answered.UNHEARD) == 1
    assert len(await room.backend.rules.all()) == 1


async def test_the_audit_names_who_stored_used_and_revoked(room: Room) -> None:
    await room.choose("always")
    await room.decided(STATUS)
    [kept] = await room.backend.rules.all()
    await room.backend.rules.revoke(kept.remembered.rule_id, by="cli:me")

    entries = await room.backend.audit.read(20)

    assert [entry.kind for entry in entries] == [
        "asked",
        "approved",
        "rule_stored",
        "rule_used",
        "rule_revoked",
    ]
    assert entries[1].choice == "always_allow"
    assert kept.remembered.uses == 1
    assert "git" not in repr(entries)


async def test_ask_is_never_remembered(room: Room) -> None:
    response = await room.choose("allow")

    assert (response.choice, response.rule) == ("ask", None)
    assert await room.decided(STATUS) == "asked"
