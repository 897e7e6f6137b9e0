"""What people write and press under a form: whose it is, what counts, what each is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.telegram_conversation import ALICE, BOB, CHANNEL, GROUP, PICK, TWO, Chat

from sayso.cards.card import Choice
from sayso.chats.places import Answer, Answered
from sayso.errors import DeliveryError
from sayso.forms.form import Form, FormField
from sayso.platforms.conversation import Reply
from sayso_telegram.parse_update import parse_update
from sayso_telegram.updates_handler import HandledUpdate


def parse_reply(message: Any) -> Reply | None:
    found = parse_update({"update_id": 1, "message": message})
    return found if isinstance(found, Reply) else None


async def test_the_right_persons_replies_lead_to_one_press_with_raw_values(chat: Chat) -> None:
    prompt = await chat.ask()
    assert (await chat.reply(prompt, "one")).stored
    taken = await chat.reply(chat.newest, "two")

    (press,) = chat.desk.presses
    assert taken == HandledUpdate(stored=True)
    assert press.inputs == {"a": "one", "b": "two"}
    assert (press.handle, press.choice) == (chat.card.handle, "two")
    assert (press.actor, press.message) == (f"telegram:{ALICE}", chat.ref)
    assert chat.told(0) == ""
    assert not chat.board.buttons
    assert "Answered." in chat.board.text


async def test_the_prompt_asks_one_person_and_is_gone_once_answered(chat: Chat) -> None:
    prompt = await chat.ask()
    markup = prompt.other_markup or {}
    assert (markup["selective"], markup["input_field_placeholder"]) == (True, "First")
    assert [e["user"]["id"] for e in prompt.entities if e["type"] == "text_mention"] == [ALICE]
    assert prompt.reply_to == int(chat.ref.message_id)

    await chat.reply(prompt)

    assert prompt not in chat.telegram.messages()


async def test_anothers_reply_is_told_whose_question_it_is_and_decides_nothing(chat: Chat) -> None:
    prompt = await chat.ask()

    await chat.reply(prompt, "mine!", by="mallory")

    assert chat.told() == (
        "This question is Alice's: your reply decides nothing. "
        "To answer it yourself, press Two… on the card."
    )
    assert prompt in chat.telegram.messages()
    await chat.reply(prompt, "again", by="mallory")
    assert chat.told(0) == ""


async def test_an_anonymous_admins_reply_is_nobodys(chat: Chat) -> None:
    prompt = await chat.ask()

    await chat.reply(prompt, anonymous=True)

    assert "nobody can tell whose answer it is" in chat.told()
    assert prompt in chat.telegram.messages()


async def test_a_sticker_is_no_answer(chat: Chat) -> None:
    prompt = await chat.ask()

    await chat.reply(prompt, "", attached={"sticker": {"file_id": "s", "emoji": "👍"}})

    assert chat.told() == "Only text can be an answer here: reply to the question with text."
    assert prompt in chat.telegram.messages()


async def test_a_text_that_is_too_long_is_asked_again(chat: Chat) -> None:
    prompt = await chat.ask()

    await chat.reply(prompt, "x" * 4_001)

    assert "at most 4,000 characters" in chat.newest.text
    assert chat.newest.forces_reply
    assert not chat.desk.presses


async def test_a_reply_to_the_board_counts_as_well(chat: Chat) -> None:
    await chat.ask()

    await chat.reply(chat.board, "one")

    assert "✓ First one" in chat.board.text


async def test_a_reply_to_any_other_message_of_the_bot_is_left_alone(chat: Chat) -> None:
    await chat.ask()
    card = chat.telegram.state.messages[GROUP, int(chat.ref.message_id)]

    assert await chat.reply(card, "nice") == HandledUpdate(stored=True)

    assert chat.told(0) == ""


async def test_only_the_person_who_is_asked_can_press(chat: Chat) -> None:
    await chat.ask()

    taken = await chat.press("Cancel", by=BOB)

    assert taken.toast is not None
    assert taken.toast.text == "This form is Alice's: press Two… on the card."
    assert taken.toast.alert
    assert chat.board.buttons


async def test_a_forms_button_under_another_message_does_nothing(chat: Chat) -> None:
    await chat.ask()
    card = chat.telegram.state.messages[GROUP, int(chat.ref.message_id)]

    taken = await chat.press("Cancel", on=card)

    assert taken.toast is not None
    assert taken.toast.text == "This button does not belong to this message."
    assert chat.board.buttons


async def test_an_invented_forms_button_takes_no_buttons_off_a_card(chat: Chat) -> None:
    await chat.ask()
    card = chat.telegram.state.messages[GROUP, int(chat.ref.message_id)]

    taken = await chat.press_data("f1:INVENTEDINVENTED:1:cancel:0", ALICE, card)

    assert taken.toast is not None
    assert taken.toast.alert
    assert chat.telegram.state.messages[GROUP, card.id] == card


async def test_a_button_of_an_earlier_question_answers_no_later_one(chat: Chat) -> None:
    yes = FormField("x", "X", "boolean")
    again = FormField("y", "Y", "boolean")
    await chat.ask(Choice("two", "Two…", form=Form("Two", (yes, again))))
    data = chat.board.buttons["Yes"]

    await chat.press(data)
    stale = await chat.press(data)

    assert stale.toast is not None
    assert stale.toast.text == "The form has changed in the meantime."
    assert not chat.desk.presses
    await chat.press("No")
    assert chat.desk.presses[0].inputs == {"x": "true", "y": "false"}


async def test_what_falls_back_is_decided_at_once_when_it_is_left_out(chat: Chat) -> None:
    deny = Choice("why", "Deny with a reason…", form=TWO, falls_back="deny")
    prompt = await chat.ask(deny)
    await chat.reply(prompt, "one")
    chat.desk.answers = [Answer(Answered.RECORDED, "Denied.")]

    taken = await chat.press("Leave it out")

    (press,) = chat.desk.presses
    assert (press.handle, press.choice, press.inputs) == (chat.card.handle, "deny", None)
    assert (press.actor, press.message) == (f"telegram:{ALICE}", chat.ref)
    assert taken.toast is not None
    assert taken.toast.text == "Denied."
    assert "Denied." in chat.board.text
    assert "one" not in chat.board.text
    assert not chat.board.buttons
    assert not any(m.forces_reply for m in chat.telegram.messages())


async def test_a_form_on_a_shared_message_says_which_call_it_is_for(chat: Chat) -> None:
    await chat.ask(number=3, count=8)

    which = "Call 3 of 8 · bash · 0123456789ab\ncommand: rm -r build"
    assert which in chat.board.text
    assert which in chat.newest.text
    assert chat.newest.forces_reply


async def test_a_form_of_a_card_that_stands_alone_says_its_digest(chat: Chat) -> None:
    await chat.ask()

    assert "\nbash · 0123456789ab\n" in chat.board.text
    assert "Call 1" not in chat.board.text
    assert "rm -r build" not in chat.board.text


async def test_a_reply_to_an_earlier_question_answers_no_later_one(chat: Chat) -> None:
    prompt = await chat.ask()
    one, more = (chat.telegram.say(GROUP, t, by="alice", reply_to=prompt) for t in ("one", "more"))
    contents = [chat.telegram.state.message_json(said) for said in (one, more)]

    await chat.take("message", contents[0], one)
    await chat.take("message", contents[1], more)

    assert chat.told() == "This was answered already: the form above shows where it stands."
    assert not chat.desk.presses
    assert "more" not in chat.board.text


async def test_each_stranger_is_told_once(chat: Chat) -> None:
    prompt = await chat.ask()

    for by in ("mallory", "bob"):
        await chat.reply(prompt, "mine!", by=by)
        assert "This question is Alice's" in chat.told()


@pytest.mark.parametrize("confirmed", [True, False])
async def test_a_form_is_as_confirmed_as_the_press_that_opened_it(
    chat: Chat, confirmed: bool
) -> None:
    await chat.ask(PICK)
    await chat.ask_again(PICK, confirmed=confirmed)

    await chat.press("A")

    assert chat.desk.presses[0].confirmed is confirmed


async def test_cancel_ends_it_and_decides_nothing(chat: Chat) -> None:
    prompt = await chat.ask()

    await chat.press("Cancel")

    assert "Cancelled: nothing was decided." in chat.board.text
    assert not chat.board.buttons
    assert prompt not in chat.telegram.messages()
    assert not chat.desk.presses
    await chat.reply(chat.board, "after all")
    assert chat.told() == "Cancelled: nothing was decided."


async def test_a_channel_takes_forms_of_buttons_only(chat: Chat) -> None:
    with pytest.raises(DeliveryError) as raised:
        await chat.ask(chat=CHANNEL)
    assert raised.value.permanent
    assert "nobody can type an answer there" in raised.value.reason
    assert len(chat.telegram.messages(CHANNEL)) == 1

    await chat.ask(PICK, chat=CHANNEL)
    await chat.press("A")

    assert chat.desk.presses[0].inputs == {"one": "0"}


async def test_agents_words_are_never_live(chat: Chat) -> None:
    hostile = FormField("a", "@admin /start https://evil.example #x", hint="@everybody")
    form = Form("@title", (hostile,), note="https://note.example")
    await chat.ask(Choice("two", "Two…", form=form))

    for message in (chat.board, chat.newest):
        kinds = {entity["type"] for entity in message.entities}
        assert kinds <= {"code", "bold", "text_mention"}


@pytest.mark.parametrize(
    "message",
    [None, 7, {}, {"chat": {"id": 1}}, {"chat": {"id": 1}, "message_id": True}],
)
def test_what_is_no_reply_is_none(message: Any) -> None:
    assert parse_reply(message) is None


def test_a_reply_to_a_person_is_none_of_ours() -> None:
    person = {"message_id": 1, "from": {"id": 7, "is_bot": False}}
    message = {"chat": {"id": 1}, "message_id": 2, "reply_to_message": person, "text": "x"}

    assert parse_reply(message) is None


def test_a_reply_in_the_name_of_a_channel_is_nobodys_whoever_stands_in_for_it(
    payload: Callable[[str], Any],
) -> None:
    message = payload("message_reply_to_force_reply_private")["message"]
    reply = parse_reply({**message, "sender_chat": {"id": -1001160242915, "type": "channel"}})

    assert isinstance(reply, Reply)
    assert reply.actor is None


def test_a_reply_in_the_name_of_a_chat_is_nobodys(payload: Callable[[str], Any]) -> None:
    message = payload("message_anonymous_admin_text")["message"]
    message["reply_to_message"] = {"message_id": 9, "from": {"id": 1, "is_bot": True}}
    reply = parse_reply(message)

    assert isinstance(reply, Reply)
    assert reply.actor is None
