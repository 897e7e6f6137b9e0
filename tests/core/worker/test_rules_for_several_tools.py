"""A rule for several tools is offered where whoever answers for one may answer for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, ChatRoom

from sayso import CheckResult, Outcome, ToolCall
from sayso.agent.choices import chosen
from sayso.always.terms import GrantOptions
from sayso.cards.card import Card, Open
from sayso.chats.places import MessageRef
from sayso.clock import utc_now
from sayso.stores.memory import memory_backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

ALICE, BOB = "slack:U0ALICE", "slack:U0BOB"
EDIT = ToolCall("Edit", {"file_path": "src/a.py", "old_string": "1", "new_string": "2"})
WRITE = ToolCall("Write", {"file_path": "src/b.py", "content": "x"})
SAME = [Route((OPS,), approvers=(ALICE,))]
OTHERS = [Route((OPS,), approvers=(BOB,), tool="Write"), Route((OPS,), approvers=(ALICE,))]


@asynccontextmanager
async def a_room(routes: Sequence[Route], folder: Path) -> AsyncIterator[ChatRoom]:
    folder.joinpath("src").mkdir()
    async with memory_backend() as backend:
        chat = ChatDouble()
        desk = ApprovalWorker(backend, [chat], Routes(routes))
        async with ChatRoom.open(backend, desk, {"folder": str(folder)}, chat=chat) as room:
            yield room


async def asked(room: ChatRoom) -> tuple[asyncio.Task[CheckResult], MessageRef, Card]:
    waiting = room.ask(EDIT)
    ref, card = await room.chat.card_where(lambda card: isinstance(card.state, Open))
    return waiting, ref, card


async def test_one_press_is_about_all_tools_that_edit(tmp_path: Path) -> None:
    async with a_room(SAME, tmp_path) as room:
        waiting, ref, card = await asked(room)
        await room.desk.press(press_on(ref, card, "always-2", by=ALICE))
        assert (await waiting).approved

        assert (await room.gate.check(WRITE, timeout=5)).outcome is Outcome.APPROVED
        (kept,) = await room.backend.rules.all()
        assert kept.remembered.rule.also == ("MultiEdit", "Write")


async def test_where_others_answer_for_one_of_them_it_is_about_the_tool_of_the_card_alone(
    tmp_path: Path,
) -> None:
    async with a_room(OTHERS, tmp_path) as room:
        _, ref, card = await asked(room)
        assert card.choice("always-2") is None
        choice = card.choice("always-2-one")
        assert choice is not None
        assert choice.stores.startswith("Edit with file_path")
        await room.desk.press(press_on(ref, card, "always-2-one", by=ALICE))

        again = ToolCall("Edit", {**EDIT.arguments, "file_path": "src/c.py"})
        assert (await room.gate.check(again, timeout=5)).outcome is Outcome.APPROVED
        assert (await room.gate.check(WRITE, timeout=0.2)).outcome is Outcome.EXPIRED


@pytest.mark.parametrize("routes", [SAME, OTHERS])
async def test_no_press_stores_what_the_card_does_not_offer(
    routes: Sequence[Route], tmp_path: Path
) -> None:
    async with a_room(routes, tmp_path) as room:
        _, _, card = await asked(room)
        keys = {one.key for one in (*card.choices, *card.more) if one.stores}

        for key in ("always-2", "always-2-one", "always-3", "always-3-one"):
            assert (card.choice(key) is not None) == (key in keys), key


async def test_an_answer_in_code_is_about_the_tool_that_was_asked_about_alone(
    tmp_path: Path,
) -> None:
    async with a_room(SAME, tmp_path) as room:
        submitted = await room.gate.submit(EDIT)
        assert isinstance(submitted, str)
        record = await room.backend.store.get(submitted)
        assert record is not None

        _, rule = chosen(record.request, "always-2", by=ALICE, at=utc_now(), terms=GrantOptions())

    assert rule is not None
    assert (rule.rule.tool, rule.rule.also) == ("Edit", ())
