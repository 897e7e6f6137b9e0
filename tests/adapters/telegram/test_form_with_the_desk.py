"""The whole way of a form: an agent asks, somebody answers in Telegram, the agent has values."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest
from support.room import RUN
from support.telegram_bots import TOKEN, bots
from support.telegram_forms import FORUM, GROUP, ROUTES, VALUES, Room

from sayso import Gate, Outcome
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso_playground import DeliverTwice, Playground, PlaygroundConfig, RateLimited


@pytest.fixture
async def quiet_room(backend: Backend) -> AsyncIterator[Room]:
    """A room whose bots are started by the test."""
    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground,
        Gate.open(backend, run=RUN, timeout=30) as gate,
    ):
        yield Room(backend, gate, playground)


@pytest.fixture(params=["webhook", "polling"])
async def room(request: pytest.FixtureRequest, quiet_room: Room) -> AsyncIterator[Room]:
    quiet_room.mode = request.param
    async with quiet_room.bots():
        yield quiet_room


async def fill_in_the_first_half(room: Room) -> None:
    await room.answer("Name", "Bob")
    await room.press("❓ Notes", "Skip")
    await room.press("❓ Why", "Not today")
    await room.press("❓ Count", "Keep: 4")
    await room.answer("Weight", "2.5")


async def fill_in_the_second_half(room: Room) -> None:
    await room.press("❓ Express", "Yes")
    await room.press("❓ Colour", "Green")
    await room.press("❓ City", "City 41")
    await room.press("❓ Extras", "Blue")
    await room.press("❓ Extras", "Red")
    await room.press("❓ Extras", "Done (2)")
    await room.answer("Day", "2026-11-21")


async def test_a_form_of_all_kinds_comes_back_as_values(room: Room) -> None:
    waiting, card = await room.ask()
    pressed = await room.telegram.press(card, "Order…", by="alice")
    assert (pressed.toast, pressed.error) == (None, None)

    await fill_in_the_first_half(room)
    await fill_in_the_second_half(room)
    summary = await room.board("Is all of this right?")
    for words in ("Name Bob", "Why Not today", "City City 41", "Extras Red, Blue"):
        assert f"✓ {words}" in summary.text
    sent = await room.press("Is all of this right?", "Order it")

    answer = await waiting
    assert (answer.values, answer.decided_by) == (VALUES, "telegram:4242")
    assert sent.toast == "Answered."
    ended = await room.shown("💬 Answered by alice")
    assert "name Bob" in ended.text
    await room.telegram.until(lambda: not room.boards and not room.open_prompts)


async def test_another_process_goes_on_where_one_was_stopped(quiet_room: Room) -> None:
    room = quiet_room
    async with room.bots():
        waiting, card = await room.ask()
        await room.telegram.press(card, "Order…", by="alice")
        await fill_in_the_first_half(room)
        await room.board("❓ Express")

    async with room.bots():
        await fill_in_the_second_half(room)
        await room.press("Is all of this right?", "Order it")

        assert (await waiting).values == VALUES


async def test_a_reply_written_while_no_process_ran_is_taken_by_the_next(quiet_room: Room) -> None:
    room = quiet_room
    room.mode = "polling"
    async with room.bots():
        waiting, card = await room.ask()
        await room.telegram.press(card, "Deny…", by="alice")
        await room.question("Reason")

    await room.answer("Reason", "it touches production")
    async with room.bots():
        answer = await waiting

    assert (answer.choice, answer.values) == ("reason", {"reason": "it touches production"})


async def test_a_form_of_one_field_is_sent_off_by_the_reply(room: Room) -> None:
    waiting, card = await room.ask()
    await room.telegram.press(card, "Deny…", by="alice")

    await room.answer("Reason", "no budget")

    answer = await waiting
    assert (answer.outcome, answer.values) == (Outcome.DENIED, {"reason": "no budget"})
    await room.shown("⛔ Denied by alice")


async def test_a_wrong_answer_is_told_and_asked_again_and_the_rest_is_kept(room: Room) -> None:
    waiting, card = await room.ask()
    await room.telegram.press(card, "Two things…", by="alice")
    await room.answer("First", "same")
    await room.answer("Second", "same")

    await room.question("these must differ")
    board = await room.board("✓ Second same")
    assert "⚠️ these must differ" in board.text
    await room.answer("First", "other")
    await room.press("❓ Second", "Keep: same")

    assert (await waiting).values == {"a": "other", "b": "same"}


async def test_what_does_not_fit_its_field_is_asked_again_at_once(room: Room) -> None:
    waiting, card = await room.ask()
    await room.telegram.press(card, "Deny…", by="alice")

    wrong = await room.answer("Reason", "x")
    again = await room.question("at least 3 characters")
    await room.telegram.until(lambda: room.open_prompts == [again])
    await room.answer("at least 3 characters", "too risky")

    assert (await waiting).values == {"reason": "too risky"}
    assert again.reply_to == wrong.id


async def test_every_message_of_a_form_stands_in_the_topic_of_its_card(room: Room) -> None:
    room.chat = FORUM
    waiting, card = await room.ask()

    await room.telegram.press(card, "Deny…", by="alice")
    prompt, board = await room.question("Reason"), await room.board("Reason")
    await room.answer("Reason", "no budget")

    await waiting
    assert (prompt.thread_id, board.thread_id) == (17, 17)
    assert (prompt.reply_to, board.reply_to) == (card.id, card.id)


async def test_an_update_that_comes_twice_answers_one_question(room: Room) -> None:
    waiting, card = await room.ask()
    await room.telegram.press(card, "Two things…", by="alice")
    prompt = await room.question("First")

    room.telegram.misbehave("callback", DeliverTwice())
    room.telegram.reply(prompt, "once", by="alice")
    await room.question("Second")
    board = await room.board("❓ Second")
    assert board.text.count("once") == 1
    await room.answer("Second", "twice")

    assert (await waiting).values == {"a": "once", "b": "twice"}


async def test_two_processes_that_get_one_reply_at_once_take_it_once(
    quiet_room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "sayso_telegram")
    room = quiet_room
    async with room.bots(), bots(room.playground, room.backend, ROUTES, deliver=False) as other:
        waiting, card = await room.ask()
        await room.telegram.press(card, "Two things…", by="alice")
        prompt = await room.question("First")
        room.telegram.deliver_to(other.url, secret_token="secret")
        room.telegram.misbehave("callback", DeliverTwice())
        room.telegram.reply(prompt, "once", by="alice")
        await room.question("Second")
        await room.telegram.until(lambda: "came to this: seen_before" in caplog.text)
        assert len(room.open_prompts) == 1
        await room.answer("Second", "twice")

        assert (await waiting).values == {"a": "once", "b": "twice"}


async def test_telegram_comes_again_after_as_long_as_it_asked_us_to_wait() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN, sleep=sleep)) as playground,
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=30) as gate,
    ):
        room = Room(backend, gate, playground)
        async with room.bots():
            waiting, card = await room.ask()
            await room.telegram.press(card, "Two things…", by="alice")
            await room.question("First")
            room.telegram.misbehave("sendMessage", RateLimited(7))
            await room.answer("First", "1")
            await room.answer("Second", "2")

            assert (await waiting).values == {"a": "1", "b": "2"}
    assert slept == [7]


async def test_the_form_of_another_person_is_their_own(room: Room) -> None:
    waiting, card = await room.ask()
    await room.telegram.press(card, "Two things…", by="alice")
    await room.question("Alice, reply to this message: First")
    await room.telegram.press(card, "Two things…", by="bob")
    await room.answer("Bob, reply to this message: First", "1", by="bob")
    await room.answer("Bob, reply to this message: Second", "2", by="bob")

    answer = await waiting

    assert (answer.decided_by, answer.values) == ("telegram:4343", {"a": "1", "b": "2"})
    # Alice's form is closed with the card.
    await room.telegram.until(lambda: not room.boards and not room.open_prompts)
    await room.told("Too late: this was already answered by bob")


async def test_the_card_decided_by_a_button_closes_every_form_on_it(room: Room) -> None:
    waiting, card = await room.ask()
    await room.telegram.press(card, "Two things…", by="alice")
    await room.question("First")

    await room.telegram.press(card, "Nothing", by="bob")

    assert (await waiting).choice == "no"
    await room.telegram.until(lambda: not room.boards and not room.open_prompts)
    assert room.chat == GROUP
