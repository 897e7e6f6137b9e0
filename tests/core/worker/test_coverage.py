"""What a rule would have saved: said at its second step, of the calls that were really asked."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, RUN, ChatRoom

from sayso import ToolCall
from sayso.cards.card import Choice, Open
from sayso.rules.rule import Rule
from sayso.stores.backend import Backend
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

SECRET = "xoxb" + "-12345678-abcdefghijkl"


def git(words: str, **more: str) -> ToolCall:
    return ToolCall("bash", {"command": f"git {words}", **more})


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    desk = ApprovalWorker(backend, [chat], Routes([Route((OPS,), approvers=("slack:U0ALICE",))]))
    async with ChatRoom.open(backend, desk, chat=chat) as room:
        yield room


async def noted(room: ChatRoom, key: str, *before: ToolCall) -> str:
    """What is said beside the second step of a choice, after a session asked these calls."""
    for call in before:
        await room.offer(call)
    await room.offer(git("status"), Rule("bash", {"command": "git *"}))
    ref, card = await room.chat.card_where(
        lambda card: any(choice.key == "always-2" for choice in card.more)
    )
    await room.desk.press(press_on(ref, card, key, confirmed=False))
    _, sure = await room.chat.card_where(lambda card: confirming(card.state) is not None)
    choice = confirming(sure.state)
    assert choice is not None
    return choice.warning


def confirming(state: object) -> Choice | None:
    return state.confirming if isinstance(state, Open) else None


async def test_the_second_step_says_how_many_of_the_last_calls_it_would_have_covered(
    room: ChatRoom,
) -> None:
    before = [*map(git, ("log", "diff", "push")), ToolCall("bash", {"command": "ls"})]

    said = await noted(room, "always-2", *before)

    assert said.startswith("It would have allowed 3 of the last 4 calls of this session. ")
    assert "also allows another one after it" in said


async def test_a_denial_says_how_many_it_would_have_denied(room: ChatRoom) -> None:
    said = await noted(room, "deny-always", git("status"), git("log"))

    assert said == "It would have denied 1 of the last 2 calls of this session"


async def test_only_the_last_ten_calls_of_this_session_count(room: ChatRoom) -> None:
    strange = a_request(tool="bash", arguments={"command": "git x"})
    await room.backend.store.open(strange, seconds=30, inbox="", book=None)
    before = [git(f"old {n}") for n in range(3)] + [ToolCall("read", {"n": n}) for n in range(10)]

    said = await noted(room, "always-2", *before)

    assert strange.run.session_id != RUN.session_id
    assert said.startswith("It would have allowed 0 of the last 10 calls")


async def test_what_cards_hide_of_a_call_changes_nothing(room: ChatRoom) -> None:
    before = git("status", token=SECRET), git("log", token=SECRET)

    said = await noted(room, "always-2", *before)

    assert SECRET not in said
    assert said.startswith("It would have allowed 2 of the last 2 calls")


async def test_of_too_few_calls_nothing_is_said(room: ChatRoom) -> None:
    assert "last" not in await noted(room, "always-2", git("log"))
