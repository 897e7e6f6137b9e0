"""What comes twice, fails, is late or is over: nothing is lost, nothing is acted on twice."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from support.telegram_conversation import ALICE, GROUP, PICK, Chat

from sayso.cards.card import Choice, Ended
from sayso.chats.places import Answer, Answered
from sayso.errors import DeliveryError, ReplayedCallbackError, StoreUnreachableError
from sayso.forms.form import Form, FormField
from sayso_playground import RateLimited, ServerError, Slow


async def test_the_same_reply_twice_acts_once(chat: Chat, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sayso_telegram")
    prompt = await chat.ask()
    said = chat.telegram.say(GROUP, "one", by="alice", reply_to=prompt)
    content = chat.telegram.state.message_json(said)

    await asyncio.gather(*(chat.take("message", dict(content), said) for _ in range(3)))

    became = sorted(record.getMessage().split()[-1] for record in caplog.records)
    assert became == ["form_answered", "seen_before", "seen_before"]
    assert chat.board.text.count("✓") == 1
    assert chat.told(0) == ""


async def test_the_last_reply_twice_presses_once(chat: Chat) -> None:
    await chat.reply(await chat.ask(), "one")
    said = chat.telegram.say(GROUP, "two", by="alice", reply_to=chat.newest)
    content = chat.telegram.state.message_json(said)

    await asyncio.gather(*(chat.take("message", dict(content), said) for _ in range(3)))

    assert len(chat.desk.presses) == 1
    assert chat.told(0) == ""


@pytest.mark.parametrize(
    ("failure", "comes_again"),
    [(StoreUnreachableError("away"), True), (RuntimeError("broken"), False)],
)
async def test_a_desk_that_fails_takes_nothing_and_the_same_reply_works_later(
    chat: Chat, failure: Exception, comes_again: bool
) -> None:
    await chat.reply(await chat.ask(), "one")
    chat.desk.answers = [failure]
    said = chat.telegram.say(GROUP, "two", by="alice", reply_to=chat.newest)
    content = chat.telegram.state.message_json(said)

    first = await chat.take("message", dict(content), said)
    again = await chat.take("message", dict(content), said)

    assert (first.stored, again.stored) == (not comes_again, True)
    assert chat.desk.presses[-1].inputs == {"a": "one", "b": "two"}


async def test_a_store_that_is_away_takes_nothing(chat: Chat) -> None:
    prompt = await chat.ask()
    chat.drafts.away = True
    said = chat.telegram.say(GROUP, "one", by="alice", reply_to=prompt)
    content = chat.telegram.state.message_json(said)

    away = await chat.take("message", dict(content), said)
    pressed = await chat.press("Cancel")
    chat.drafts.away = False
    back = await chat.take("message", dict(content), said)

    assert (away.stored, pressed.stored, back.stored) == (False, False, True)
    assert pressed.toast is not None
    assert pressed.toast.alert


async def test_what_the_desk_does_not_act_on_is_taken_and_never_raises(chat: Chat) -> None:
    prompt = await chat.ask()
    chat.drafts.away, chat.drafts.reason = True, ReplayedCallbackError("it was here before")
    said = chat.telegram.say(GROUP, "one", by="alice", reply_to=prompt)

    typed = await chat.take("message", chat.telegram.state.message_json(said), said)
    pressed = await chat.press("Cancel")

    assert (typed.stored, typed.toast) == (True, None)
    assert pressed.stored
    assert pressed.toast is not None
    assert pressed.toast.text == "This press was taken before."


@pytest.mark.parametrize(("fault", "seconds"), [(RateLimited(7), 7), (ServerError(502), None)])
async def test_a_question_that_cannot_be_shown_is_shown_when_the_reply_comes_again(
    chat: Chat, fault: Any, seconds: float | None
) -> None:
    prompt = await chat.ask()
    chat.telegram.misbehave("sendMessage", fault)
    said = chat.telegram.say(GROUP, "one", by="alice", reply_to=prompt)
    content = chat.telegram.state.message_json(said)

    first = await chat.take("message", dict(content), said)
    again = await chat.take("message", dict(content), said)

    assert (first.stored, first.retry_after, again.stored) == (False, seconds, True)
    assert "Second" in chat.newest.text


@pytest.mark.parametrize("kind", [Answered.LATE, Answered.REFUSED, Answered.UNKNOWN])
async def test_what_the_desk_says_no_to_is_told_and_ends_the_dialogue(
    chat: Chat, kind: Answered
) -> None:
    await chat.reply(await chat.ask(), "one")
    chat.desk.answers = [Answer(kind, "Too late: this was already denied by bob.")]
    prompt = chat.newest

    await chat.reply(prompt, "two")

    assert chat.told() == "Too late: this was already denied by bob."
    assert not chat.board.buttons
    assert not any(m.forces_reply for m in chat.telegram.messages())


async def test_a_press_the_desk_saw_before_ends_the_dialogue(chat: Chat) -> None:
    await chat.ask(PICK)
    chat.desk.answers = [ReplayedCallbackError("seen")]

    taken = await chat.press("A")

    assert taken.stored
    assert not chat.board.buttons


async def test_problems_the_desk_finds_lead_back_to_their_field(chat: Chat) -> None:
    await chat.reply(await chat.ask(), "one")
    chat.desk.answers = [Answer(Answered.INVALID, "Some do not fit.", {"a": "not this one"})]
    await chat.reply(chat.newest, "two")

    assert "not this one" in chat.newest.text
    assert chat.newest.forces_reply
    await chat.reply(chat.newest, "other")
    await chat.press("Keep: two")

    assert chat.desk.presses[-1].inputs == {"a": "other", "b": "two"}


async def test_a_card_that_ends_closes_its_forms(chat: Chat) -> None:
    prompt = await chat.ask()
    board = chat.board

    ended = Ended("denied", chat.clock(), by="telegram:4343", by_name="bob")
    await chat.adapter.update(chat.ref, [replace(chat.card, state=ended)])

    board = chat.telegram.state.messages[GROUP, board.id]
    assert (board.buttons, board.text) == (
        {},
        "Too late: this was already denied by bob (telegram:4343).",
    )
    assert prompt not in chat.telegram.messages()


async def test_after_a_quarter_of_an_hour_the_dialogue_is_over(chat: Chat) -> None:
    prompt = await chat.ask()
    board = chat.board
    chat.clock.now += timedelta(minutes=15, seconds=1)

    await chat.reply(prompt, "late")
    pressed = await chat.press("Cancel", on=board)

    assert chat.told() == "The time for this is over: press the button on the card again."
    assert pressed.toast is not None
    assert "The time for this is over" in pressed.toast.text
    assert not chat.telegram.state.messages[GROUP, board.id].buttons


async def test_a_dialogue_never_outlives_its_request(chat: Chat) -> None:
    prompt = await chat.ask(seconds=60)
    chat.clock.now += timedelta(seconds=61)

    await chat.reply(prompt, "late")

    assert "The time for this is over" in chat.told()


async def test_every_answer_gives_another_quarter_of_an_hour(chat: Chat) -> None:
    prompt = await chat.ask()
    chat.clock.now += timedelta(minutes=14)
    await chat.reply(prompt, "one")
    chat.clock.now += timedelta(minutes=14)

    await chat.reply(chat.newest, "two")

    assert chat.desk.presses


async def test_whoever_begins_anew_ends_what_they_began_before(chat: Chat) -> None:
    prompt = await chat.ask()
    board = chat.board

    await chat.ask_again()

    assert not chat.telegram.state.messages[GROUP, board.id].buttons
    assert prompt not in chat.telegram.messages()
    await chat.reply(chat.newest, "one")
    assert "✓ First one" in chat.board.text


async def test_when_the_question_cannot_be_posted_nothing_half_done_stays(chat: Chat) -> None:
    await chat.ask()
    before = len(chat.telegram.messages())
    chat.telegram.misbehave("sendMessage", ServerError(502), times=None)

    with pytest.raises(DeliveryError):
        await chat.ask_again()

    assert len(chat.telegram.messages()) == before


async def test_a_board_that_somebody_deleted_is_posted_anew(chat: Chat) -> None:
    prompt = await chat.ask()
    chat.telegram.delete(chat.board)

    await chat.reply(prompt, "one")

    assert "✓ First one" in chat.board.text
    await chat.press("Skip")
    assert chat.desk.presses[0].inputs == {"a": "one"}


async def test_a_bot_that_was_removed_ends_the_dialogue_and_the_update_is_taken(
    chat: Chat,
) -> None:
    prompt = await chat.ask()
    said = chat.telegram.say(GROUP, "one", by="alice", reply_to=prompt)
    content = chat.telegram.state.message_json(said)
    chat.telegram.kick(GROUP)

    taken = await chat.take("message", content, said)

    assert taken.stored


async def test_a_card_that_ends_with_the_answer_leaves_the_form_to_itself(chat: Chat) -> None:
    async def ends_the_card() -> None:
        ended = Ended("answered", chat.clock(), by=f"telegram:{ALICE}")
        await chat.adapter.update(chat.ref, [replace(chat.card, state=ended)])

    await chat.reply(await chat.ask(), "one")
    chat.desk.meanwhile = ends_the_card
    await chat.reply(chat.newest, "two")

    assert "✓ Second two" in chat.board.text
    assert "Answered." in chat.board.text
    assert "Too late" not in chat.board.text


async def test_a_form_that_was_closed_with_its_card_says_so_to_whoever_goes_on(chat: Chat) -> None:
    await chat.ask()
    board, cancel = chat.board, chat.board.buttons["Cancel"]
    ended = Ended("denied", chat.clock(), by="telegram:4343", by_name="bob")
    await chat.adapter.update(chat.ref, [replace(chat.card, state=ended)])

    pressed = await chat.press_data(cancel, ALICE, board)
    await chat.reply(board, "one")

    assert pressed.toast is not None
    assert "already denied by bob" in pressed.toast.text
    assert "already denied by bob" in chat.told()
    assert not chat.desk.presses


async def test_a_question_that_fails_half_way_takes_its_board_along(chat: Chat) -> None:
    await chat.ask()
    before = len(chat.telegram.messages())
    chat.telegram.misbehave("sendMessage", Slow(0))
    chat.telegram.misbehave("sendMessage", ServerError(502))

    with pytest.raises(DeliveryError):
        await chat.ask_again()

    assert len(chat.telegram.messages()) == before


async def test_buttons_that_are_wanted_after_a_typed_answer_stand_below_it(chat: Chat) -> None:
    form = Form("Two", (FormField("a", "First"), FormField("b", "Sure?", "boolean")))
    prompt = await chat.ask(Choice("two", "Two…", form=form))
    board = chat.board

    await chat.reply(prompt, "one")

    assert chat.newest == chat.board
    assert list(chat.newest.buttons) == ["Yes", "No", "« Back", "Cancel"]
    assert (GROUP, board.id) not in chat.telegram.state.messages
    await chat.press("Yes")
    assert chat.desk.presses[0].inputs == {"a": "one", "b": "true"}
