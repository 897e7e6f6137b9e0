"""A form filled in question by question, on a platform that is neither Slack nor Telegram."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from support.dialogue_table import ALICE, BOB, PICK, REASON, ROOM, SILENT, Table

from sayso.cards.card import Ended
from sayso.chats.places import Answer, Answered, MessageRef, Place
from sayso.dialogues.buttons import FormButton
from sayso.dialogues.chat import FormPress, Outcome, Reply
from sayso.dialogues.view import Board, Given, Note, Person, Prompt
from sayso.errors import (
    DeliveryError,
    PlaceMovedError,
    ReplayedCallbackError,
    StoreUnreachableError,
)


@pytest.fixture
def table() -> Table:
    return Table()


OVER = "The time for this is over: press the button on the card again."


async def test_a_form_is_filled_in_question_by_question_and_pressed_once(table: Table) -> None:
    await table.open(confirmed=True)
    await table.reply("Bob")
    await table.press("L")
    await table.reply(" 8 ")
    await table.press("No")
    assert table.form.answers[-1] == Given("Well done?", "No")

    taken = await table.press("Order it")

    (press,) = table.desk.taken
    assert (taken.outcome, taken.text, taken.is_stored) == (Answered.RECORDED, "Ordered.", True)
    assert press.inputs == {"for": "Bob", "size": "1", "slices": "8", "well": "false"}
    assert (press.actor, press.choice, press.confirmed) == (ALICE, "pizza", True)
    assert press.message == MessageRef(ROOM, "the-card")
    assert (table.form.ended, table.form.rows, table.prompts) == ("Ordered.", (), [])


async def test_a_board_shows_where_the_form_stands_and_a_prompt_asks_one_person(
    table: Table,
) -> None:
    await table.open()

    prompt = table.prompt.view
    assert isinstance(prompt, Prompt)
    assert (prompt.person, prompt.label) == (Person(ALICE, "Alice"), "For whom")
    assert (table.form.step, table.form.is_quiet) == ((1, 4), True)
    assert {said.reply_to for said in table.chat.shown} == {"the-card"}
    assert {said.ref.place for said in table.chat.shown} == {ROOM}


async def test_a_wrong_answer_is_asked_again_in_reply_to_it(table: Table) -> None:
    await table.open()
    await table.reply("Bob")
    await table.press("S")
    taken = await table.reply("many")

    assert taken.outcome is Outcome.ANSWERED
    assert isinstance(table.prompt.view, Prompt)
    assert "a whole number" in table.prompt.view.problem
    assert table.prompt.reply_to == "w-2"


async def test_nobody_else_answers_and_each_is_told_so_once(table: Table) -> None:
    await table.open()

    taken = [await table.reply("x", by=BOB), await table.reply("y", by=BOB)]
    taken.append(await table.reply("z", by=None))
    pressed = await table.dialogues.press(a_press(table, by=BOB))

    assert [one.outcome for one in taken] == [
        Outcome.NOT_THEIRS,
        Outcome.NOT_THEIRS,
        Outcome.NOBODYS,
    ]
    assert [to for to, _ in table.notes] == ["w-1", "w-3"]
    assert table.notes[0][1].startswith("This question is Alice's: your reply decides nothing.")
    assert (pressed.outcome, pressed.is_alert) == (Outcome.NOT_THEIRS, True)
    assert not table.desk.presses


async def test_a_reply_is_understood_in_whichever_thread_it_stands(table: Table) -> None:
    await table.open()
    prompt = table.prompt.ref.message_id
    elsewhere = MessageRef(Place("chat", "kitchen"), "w-1")

    taken = await table.dialogues.reply(Reply(elsewhere, prompt, ALICE, "Bob"))

    assert taken.outcome is Outcome.ANSWERED


async def test_the_same_reply_twice_counts_once(table: Table) -> None:
    await table.open()
    reply = Reply(MessageRef(ROOM, "w-1"), table.prompt.ref.message_id, ALICE, "Bob")

    first, second = [await table.dialogues.reply(reply) for _ in range(2)]

    assert (first.outcome, second.outcome) == (Outcome.ANSWERED, Outcome.SEEN_BEFORE)
    assert table.form.answers == (Given("For whom", "Bob"),)


async def test_an_edit_changes_nothing_and_its_writer_is_told(table: Table) -> None:
    await table.open()
    prompt = table.prompt.ref.message_id
    await table.reply("Bob")
    edit = Reply(MessageRef(ROOM, "w-1"), prompt, ALICE, "Eve", is_edit=True)

    taken = [await table.dialogues.reply(edit) for _ in range(2)]
    forgotten = await table.dialogues.reply(replace(edit, reply_to=None))
    foreign = await table.dialogues.reply(replace(edit, actor=BOB))

    assert [one.outcome for one in (*taken, forgotten)] == [Outcome.EDITED] * 3
    assert foreign.outcome is Outcome.NOT_OURS
    assert len(table.notes) == 1
    assert table.form.answers == (Given("For whom", "Bob"),)


async def test_any_other_message_is_nobodys_business(table: Table) -> None:
    await table.open()

    assert (await table.reply("x", to=MessageRef(ROOM, "w-0"))).outcome is Outcome.NOT_OURS
    photo = await table.reply(None)

    assert photo.outcome is Outcome.NOT_TEXT
    assert len(table.notes) == 1


async def test_a_button_counts_on_its_own_board_only(table: Table) -> None:
    await table.open(PICK)

    taken = await table.press("Soup", on=MessageRef(ROOM, "the-card"))

    assert (taken.outcome, table.desk.presses) == (Outcome.NOT_OUR_BUTTON, [])


async def test_another_process_goes_on_with_the_form(table: Table) -> None:
    await table.open()
    await table.reply("Bob")
    table.dialogues = table.another_process()

    await table.press("S")

    assert table.form.answers[-1] == Given("Size", "S")


async def test_while_another_process_makes_a_move_nothing_is_taken(table: Table) -> None:
    await table.open(PICK)
    lease = table.drafts.lease(table.button("Soup").dialogue)
    await table.leases.hold(lease, "the other one", seconds=60)

    with pytest.raises(TimeoutError, match="another process"):
        await table.press("Soup")

    table.clock.pass_by(60)
    assert (await table.press("Soup")).outcome is Answered.RECORDED


async def test_a_desk_that_fails_leaves_the_question_open(table: Table) -> None:
    await table.open(PICK)
    table.desk.answers = [StoreUnreachableError("away")]

    with pytest.raises(StoreUnreachableError):
        await table.press("Soup")

    assert (await table.press("Soup")).outcome is Answered.RECORDED


async def test_a_platform_that_fails_makes_the_answer_come_again(table: Table) -> None:
    await table.open()
    table.chat.errors = [DeliveryError("chat", "busy", retry_after=3)]
    reply = Reply(MessageRef(ROOM, "w-1"), table.prompt.ref.message_id, ALICE, "Bob")

    failed = await table.dialogues.reply(reply)
    again = await table.dialogues.reply(reply)

    assert (failed.is_stored, failed.retry_after) == (False, 3)
    assert again.outcome is Outcome.ANSWERED
    assert len(table.prompts) == 0


async def test_a_chat_that_moved_ends_the_dialogue(table: Table) -> None:
    await table.open(PICK)
    table.chat.errors = [PlaceMovedError("chat", "cellar")]

    await table.press("Soup")
    assert len(table.desk.taken) == 1
    late = await table.press("Soup")

    assert (late.outcome, late.text) == (Outcome.TOO_LATE, OVER)


async def test_what_the_desk_refuses_is_put_right(table: Table) -> None:
    await table.open(REASON)
    table.desk.answers = [Answer(Answered.INVALID, "Not yet.", {"reason": "say more"})]

    await table.reply("no")
    assert table.form.question is not None
    assert table.form.question.problem == "say more"
    await table.reply("it is late")

    assert [press.inputs for press in table.desk.taken] == [
        {"reason": "no"},
        {"reason": "it is late"},
    ]


async def test_a_press_the_desk_saw_before_ends_the_dialogue(table: Table) -> None:
    await table.open(PICK)
    table.desk.answers = [ReplayedCallbackError("again")]

    taken = await table.press("Soup")

    assert (taken.outcome, table.form.ended) == (Answered.LATE, "This was taken before.")


async def test_words_left_out_press_what_counts_without_them(table: Table) -> None:
    await table.open(REASON)

    await table.press("Leave it out")

    (press,) = table.desk.taken
    assert (press.choice, press.inputs) == ("deny", None)


async def test_cancel_decides_nothing(table: Table) -> None:
    await table.open()

    await table.press("Cancel")

    assert table.form.ended == "Cancelled: nothing was decided."
    assert not table.desk.presses


@pytest.mark.parametrize("seconds", [900, 3_600])
async def test_a_dialogue_is_over_in_time(table: Table, seconds: float) -> None:
    if seconds == 3_600:
        table.card = replace(table.card, expires_at=table.clock() + timedelta(seconds=60))
        seconds = 60
    await table.open(PICK)
    soup, board = table.button("Soup"), table.board
    table.clock.pass_by(seconds)

    taken = await table.dialogues.press(a_press(table, button=soup))

    assert (taken.outcome, taken.text) == (Outcome.TOO_LATE, OVER)
    assert board.view == Note(OVER)


async def test_whoever_begins_again_ends_what_they_began_before(table: Table) -> None:
    await table.open(PICK)
    first = table.board
    await table.open(PICK, by=BOB)
    await table.open(PICK)

    assert first.view == Note("This was started again below.")
    assert sum(isinstance(said.view, Board) for said in table.chat.shown) == 2


async def test_a_card_that_ends_closes_its_forms_and_takes_their_prompts_away(
    table: Table,
) -> None:
    await table.open()
    board = table.board

    await table.openings.close(
        table.card.handle, Ended("denied", table.clock(), by=BOB, by_name="Bob")
    )

    assert board.view == Note("Too late: this was already denied by Bob (chat:bob).")
    assert table.prompts == []


async def test_where_nobody_can_type_only_forms_of_buttons_are_opened(table: Table) -> None:
    with pytest.raises(DeliveryError, match="nobody can type an answer there") as raised:
        await table.open(place=SILENT)
    await table.open(PICK, place=SILENT)

    assert (raised.value.platform, raised.value.permanent) == ("chat", True)
    assert len(table.chat.shown) == 1


async def test_where_the_platform_does_not_say_somebody_may_type(table: Table) -> None:
    table.chat.knows_rooms = False

    await table.open(place=SILENT)

    assert len(table.prompts) == 1


async def test_how_the_question_ended_is_told_when_the_dialogue_is_long_gone(table: Table) -> None:
    await table.open(PICK)
    late, board = a_press(table, button=table.button("Soup")), table.board
    await table.openings.close(table.card.handle, Ended("denied", table.clock()))
    closed = board.view
    table.clock.pass_by(901)

    taken = await table.dialogues.press(late)

    assert taken.outcome is Outcome.TOO_LATE
    assert taken.text != OVER
    assert "denied" in taken.text
    assert board.view == closed


async def test_a_board_that_cannot_be_taken_back_or_closed_does_no_harm(table: Table) -> None:
    await table.open()
    busy = DeliveryError("chat", "busy")
    table.chat.errors = [busy, busy]

    await table.openings.close(table.card.handle, Ended("denied", table.clock()))
    taken = await table.reply("Bob")

    assert taken.outcome is Outcome.TOO_LATE
    assert not table.desk.presses


def a_press(table: Table, *, by: str = ALICE, button: FormButton | None = None) -> FormPress:
    """A press of the board's last button, or of one that it had."""
    return FormPress(button or table.form.rows[-1][-1].button, by, table.board.ref)
