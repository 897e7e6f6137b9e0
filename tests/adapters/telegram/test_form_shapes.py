"""Moments, addresses, lists and JSON, question by question in Telegram."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.room import RUN
from support.schemas import COMMON, COMMON_DATA
from support.telegram_bots import TOKEN
from support.telegram_forms import Room

from sayso import Gate
from sayso.stores.backend import Backend
from sayso_playground import Playground, PlaygroundConfig


@pytest.fixture(params=["webhook", "polling"])
async def room(backend: Backend, request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground,
        Gate.open(backend, run=RUN, timeout=30) as gate,
    ):
        room = Room(backend, gate, playground, mode=request.param)
        async with room.bots():
            yield room


async def test_what_is_commonly_asked_for_is_asked_step_by_step(room: Room) -> None:
    waiting = asyncio.create_task(room.gate.collect(COMMON, text="What, where and when?"))
    card = await room.shown("What, where and when?")
    await room.telegram.press(card, "Fill in…", by="alice")

    await room.answer("At", "2026-11-21 14:30")
    await room.answer("this must be a date and a time with its zone", "2026-11-21 14:30 UTC")
    await room.answer("To", "ana@example.com")
    await room.answer("Page", "https://example.com/a")
    await room.answer("Tags", "new\n\na, b\n")
    await room.press("❓ level", "High")
    await room.answer("Servers", '[{"host": "web", "port": "80"}]')
    await room.answer("/0/port: this is not of type", '[{"host": "web", "port": 80}]')
    await room.answer("Pay", '{"kind": "bank", "iban": "DE"}')
    await room.press("Is all of this right?", "Send")

    found = await waiting
    assert (found.data, found.decided_by) == (COMMON_DATA, "telegram:4242")


async def test_a_reply_with_half_of_a_surrogate_pair_is_nobodys_answer(room: Room) -> None:
    name = {"type": "object", "properties": {"it": {"type": "string"}}, "required": ["it"]}
    waiting = asyncio.create_task(room.gate.collect(name, text="Who is it?"))
    card = await room.shown("Who is it?")
    await room.telegram.press(card, "Fill in…", by="alice")

    await room.answer("it", "Bob\ud800")
    await room.telegram.until(lambda: not room.telegram.updates.pending)
    await room.answer("it", "Bob")

    assert (await waiting).data == {"it": "Bob"}
