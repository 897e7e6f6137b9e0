"""``/pending``: what waits for whoever asks is told in their own chat, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.desk_double import DeskDouble
from support.room import RUN
from support.telegram_bots import TOKEN, bots

from sayso import Gate, ToolCall
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import StoreUnreachableError
from sayso.stores.memory import memory_backend
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.worker.routing import Route, Routes
from sayso_playground import Playground, PlaygroundConfig, TelegramDouble
from sayso_telegram import TelegramAdapter, TelegramConfig
from sayso_telegram.parse_update import PendingCommand, parse_update
from sayso_telegram.pending_messages import PendingCommands

GROUP = -1001234567890
ALICE, MALLORY = 4242, 6666


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramDouble]:
    routes = Routes(
        [Route((Place("telegram", str(GROUP)),), approvers=("alice",))],
        {"alice": frozenset({f"telegram:{ALICE}"})},
    )
    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground,
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=30) as gate,
        bots(playground, backend, routes),
    ):
        waiting = asyncio.create_task(gate.check(ToolCall("bash", {"command": "ls"})))
        card = await playground.telegram.message_where(lambda m: "Expires" in m.text)
        yield playground.telegram
        await playground.telegram.press(card, "Deny", by="alice")
        await waiting


async def test_in_ones_own_chat_it_lists_what_waits_with_a_link_to_the_card(
    telegram: TelegramDouble,
) -> None:
    (card,) = telegram.messages(GROUP)
    telegram.say(ALICE, "/pending", by="alice")
    told = await telegram.message_where(lambda m: "Waiting for you" in m.text)

    assert told.chat == ALICE
    assert "bash" in told.text
    assert f"https://t.me/c/1234567890/{card.id}" in told.text


async def test_whoever_may_not_decide_is_told_that_nothing_waits(telegram: TelegramDouble) -> None:
    telegram.say(MALLORY, "/pending", by="mallory")
    told = await telegram.message_where(lambda m: m.chat == MALLORY and m.sender != MALLORY)

    assert told.text == "Nothing waits for you."


async def test_in_a_group_it_says_only_where_to_ask(telegram: TelegramDouble) -> None:
    asked = telegram.say(GROUP, "/pending", by="alice")
    told = await telegram.message_where(lambda m: m.reply_to == asked.id)

    assert told.text == "What waits for you is told to you alone: write /pending to the bot itself."


async def test_who_asks_again_and_again_is_answered_now_and_then() -> None:
    moments = iter((0.0, 1.0, 2.9, 3.0))
    async with Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground:
        config = TelegramConfig(TOKEN, ("s",), playground.telegram_api_url)
        async with TelegramAdapter(config, MemoryKeyValue(utc_now)) as adapter:
            commands = PendingCommands(
                adapter, DeskDouble(), seconds=5, timer=lambda: next(moments)
            )
            asked = parse_command(_message())
            assert asked is not None
            taken = [await commands.answer(asked) for _ in range(4)]

        assert taken == [True] * 4
        assert len(playground.telegram.messages(ALICE)) == 2


async def test_a_command_for_another_bot_is_left_to_it() -> None:
    async with Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground:
        config = TelegramConfig(TOKEN, ("s",), playground.telegram_api_url)
        async with TelegramAdapter(config, MemoryKeyValue(utc_now)) as adapter:
            who = await adapter.identity()
            commands = PendingCommands(adapter, DeskDouble(), seconds=5)
            for bot in ("other_bot", who.username.upper()):
                asked = parse_command(_message(text=f"/pending@{bot}"))
                assert asked is not None
                await commands.answer(asked)

        assert len(playground.telegram.messages(ALICE)) == 1


async def test_what_cannot_be_told_for_now_comes_again() -> None:
    desk = DeskDouble()
    desk.answers = [StoreUnreachableError("away")]
    async with Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground:
        config = TelegramConfig(TOKEN, ("s",), playground.telegram_api_url)
        async with TelegramAdapter(config, MemoryKeyValue(utc_now)) as adapter:
            commands = PendingCommands(adapter, desk, seconds=5)
            asked = parse_command(_message())
            assert asked is not None
            taken = [await commands.answer(asked) for _ in range(2)]

    assert taken == [False, True]


def parse_command(message: object) -> PendingCommand | None:
    found = parse_update({"update_id": 1, "message": message})
    return found if isinstance(found, PendingCommand) else None


def _message(**changes: object) -> dict[str, object]:
    return {
        "message_id": 7,
        "chat": {"id": ALICE, "type": "private"},
        "from": {"id": ALICE, "is_bot": False},
        "text": "/pending",
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "is_private"),
    [
        ({}, True),
        ({"text": "/pending please"}, True),
        ({"text": "/pending@sayso_bot"}, True),
        ({"chat": {"id": GROUP, "type": "supergroup"}}, False),
        # A chat that only says it is private, with somebody else in it.
        ({"chat": {"id": MALLORY, "type": "private"}}, False),
    ],
)
def test_a_command_is_read(changes: dict[str, object], is_private: bool) -> None:
    found = parse_command(_message(**changes))

    assert found is not None
    assert (found.actor, found.is_private) == (f"telegram:{ALICE}", is_private)


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "/pendingx"},
        {"text": " /pending"},
        {"text": None},
        {"text": 5},
        {"from": {"id": ALICE, "is_bot": True}},
        {"from": None},
        {"sender_chat": {"id": GROUP}},
        {"forward_origin": {"type": "user"}},
        {"chat": None},
        {"message_id": "7"},
    ],
)
def test_what_is_no_command_of_a_person_is_none(changes: dict[str, object]) -> None:
    assert parse_command(_message(**changes)) is None


@pytest.mark.parametrize("message", [None, [], "x", {}])
def test_anything_else_is_no_command(message: object) -> None:
    assert parse_command(message) is None
