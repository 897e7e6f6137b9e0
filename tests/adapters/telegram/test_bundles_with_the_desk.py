"""Several calls as one Telegram message: the whole way with the desk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from support.room import RUN
from support.telegram_bots import TOKEN, bots

from sayso import CheckResult, Gate, Outcome, ToolCall
from sayso.chats.places import Place
from sayso.stores.backend import Backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import WorkerOptions
from sayso_playground import Playground, PlaygroundConfig, TelegramDouble, TelegramMessage

GROUP, OLD = -1001234567890, -300


class Room:
    """A gate, a desk that gathers calls, and a Telegram with a few chats."""

    def __init__(self, telegram: TelegramDouble, gate: Gate) -> None:
        self.telegram = telegram
        self.gate = gate

    async def asked(
        self, *calls: ToolCall, chat: int = GROUP
    ) -> tuple[asyncio.Task[list[CheckResult]], TelegramMessage]:
        waiting = asyncio.create_task(self.gate.check_batch(calls, together=True))
        return waiting, await self.shown(f"{len(calls)} calls are waiting", chat)

    async def shown(self, words: str, chat: int = GROUP) -> TelegramMessage:
        return await self.telegram.message_where(lambda m: words in m.text and m.chat == chat)


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[Room]:
    approvers = ("telegram:4242", "telegram:4343")
    routes = Routes(
        [
            Route((Place("telegram", str(OLD)),), tool="old*", approvers=approvers),
            Route((Place("telegram", str(GROUP)),), approvers=approvers),
        ],
        {"alice": frozenset({"telegram:4242"})},
    )
    options = WorkerOptions(bundle_window=timedelta(milliseconds=200))
    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground,
        Gate.open(backend, run=RUN, timeout=30) as gate,
        bots(playground, backend, routes, options=options),
    ):
        yield Room(playground.telegram, gate)


CALLS = [ToolCall(tool, {"command": f"make {tool}"}) for tool in ("build", "test", "deploy")]


async def test_a_batch_is_one_message_that_is_decided_line_by_line(room: Room) -> None:
    waiting, message = await room.asked(*CALLS)

    first = await room.telegram.press(message, "Deny 2", by="alice")
    left = await room.shown("2 of 3 calls are waiting")
    assert left.id == message.id
    await room.telegram.press(left, "Allow 1", by="alice")
    left = await room.shown("1 of 3 calls is waiting")
    assert set(left.buttons) == {"Details 1", "Details 2", "Allow 3", "Deny 3", "More… 3"}
    await room.telegram.press(left, "Allow 3", by="alice")

    assert (first.toast, first.alert) == ("Denied.", False)
    assert [verdict.outcome for verdict in await waiting] == [
        Outcome.APPROVED,
        Outcome.DENIED,
        Outcome.APPROVED,
    ]
    done = await room.shown("calls are decided")
    assert list(done.buttons) == ["Details 1", "Details 2", "Details 3"]
    assert done.text.count("✅ Approved by alice") == 2


async def test_deny_all_denies_all_of_them_and_the_presser_is_told(room: Room) -> None:
    waiting, message = await room.asked(*CALLS)

    pressed = await room.telegram.press(message, "Deny all", by="alice")

    assert (pressed.toast, pressed.alert) == ("3 denied.", False)
    assert not any(verdict.approved for verdict in await waiting)


async def test_who_was_too_late_for_a_part_is_told(room: Room) -> None:
    waiting, message = await room.asked(*CALLS)
    await room.telegram.press(message, "Deny 1", by="alice")

    pressed = await room.telegram.press(message, "Allow all", by="alice")

    assert pressed.alert
    assert pressed.toast == "2 approved, 1 was already denied by alice (telegram:4242)."
    assert [verdict.approved for verdict in await waiting] == [False, True, True]


async def test_a_stranger_is_told_and_nothing_is_decided(room: Room) -> None:
    waiting, message = await room.asked(*CALLS)

    pressed = await room.telegram.press(message, "Allow all", by="mallory")

    assert "may not decide" in str(pressed.toast)
    await room.telegram.press(message, "Allow all", by="alice")
    assert all(verdict.approved for verdict in await waiting)


async def test_a_long_call_is_seen_in_full_before_all_are_allowed(room: Room) -> None:
    long = ToolCall("write", {"text": "y" * 9_000})
    waiting, message = await room.asked(CALLS[0], long)
    assert "Allow all" not in message.buttons

    await room.telegram.press(message, "Show all 2", by="alice")
    seen = await room.telegram.message_where(lambda m: "Allow all" in m.buttons)
    await room.telegram.press(seen, "Allow all", by="alice")

    assert all(verdict.approved for verdict in await waiting)


async def test_always_of_one_line_takes_a_second_step_on_that_line(room: Room) -> None:
    waiting, message = await room.asked(*CALLS)

    await room.telegram.press(message, "More… 1", by="alice")
    opened = await room.telegram.message_where(lambda m: "Always 1" in m.buttons)
    await room.telegram.press(opened, "Always 1", by="alice")
    step = await room.telegram.message_where(lambda m: "Yes, Always 1" in m.buttons)
    assert {"Allow 2", "Deny 2", "Allow 3", "Deny 3"} <= set(step.buttons)
    await room.telegram.press(step, "Yes, Always 1", by="alice")
    rest = await room.shown("2 of 3 calls are waiting")
    assert "Remembered" in rest.text
    await room.telegram.press(rest, "Deny all", by="alice")

    assert [verdict.approved for verdict in await waiting] == [True, False, False]
    assert (await room.gate.check(replace(CALLS[0], call_id="another"))).approved


async def test_a_denial_of_one_line_can_have_a_reason(room: Room) -> None:
    waiting, message = await room.asked(*CALLS)
    await room.telegram.press(message, "More… 1", by="alice")
    opened = await room.telegram.message_where(lambda m: "Back 1" in m.buttons)

    label = next(label for label in opened.buttons if label.startswith("Deny with a reason"))
    await room.telegram.press(opened, label, by="alice")
    prompt = await room.telegram.message_where(lambda m: m.other_markup is not None)
    board = await room.shown("📝")
    for shown in (prompt, board):
        assert "\nCall 1 of 3 · build · " in shown.text
        assert "\nmake build" in shown.text
    room.telegram.reply(prompt, "not on a Friday", by="alice")

    rest = await room.shown("2 of 3 calls are waiting")
    assert "not on a Friday" in rest.text
    await room.telegram.press(rest, "Allow all", by="alice")
    verdicts = await waiting
    assert [verdict.approved for verdict in verdicts] == [False, True, True]
    assert verdicts[0].reason == "not on a Friday"


async def test_a_form_of_one_line_is_closed_when_that_line_is_decided(room: Room) -> None:
    waiting, message = await room.asked(*CALLS)
    await room.telegram.press(message, "More… 1", by="alice")
    opened = await room.telegram.message_where(lambda m: "Back 1" in m.buttons)
    label = next(label for label in opened.buttons if label.startswith("Ask for changes"))
    await room.telegram.press(opened, label, by="alice")
    await room.telegram.message_where(lambda m: m.other_markup is not None)

    await room.telegram.press(message, "Deny all", by="alice")

    await room.shown("Too late: this was already denied by alice")
    assert not any(verdict.approved for verdict in await waiting)


async def test_open_calls_follow_their_group_when_it_becomes_a_supergroup(room: Room) -> None:
    calls = [ToolCall(f"old-{number}", {}) for number in range(3)]
    waiting, message = await room.asked(*calls, chat=OLD)
    await room.telegram.press(message, "Deny 1", by="alice")
    await room.shown("2 of 3", OLD)

    new = room.telegram.migrate_group(OLD)
    moved = await room.shown("2 calls are waiting", new)
    await room.telegram.press(moved, "Allow all", by="alice")

    assert [verdict.approved for verdict in await waiting] == [False, True, True]
