"""Whatever is wrong about an answer in Telegram: what the person reads; nothing is decided."""

from __future__ import annotations

import pytest
from e2e.asked import Asked
from e2e.hands import TelegramHands, both_cards
from e2e.wrong_input import CALL, HALF, NOT_YOURS, WHERE

from sayso_playground import DeliverTwice, TelegramMessage

NOT_TEXT = "Only text can be an answer here: reply to the question with text."
PLANE = {
    "type": "object",
    "properties": {
        "seats": {"type": "integer", "minimum": 1, "maximum": 9, "title": "Seats"},
        "class": {"enum": ["first", "second"], "title": "Class"},
    },
    "required": ["seats", "class"],
}


async def asked_again(telegram: TelegramHands, wrong: TelegramMessage, told: str) -> None:
    """The form and a new message to reply to say what was wrong with the answer."""
    board = await telegram.telegram.message_where(
        lambda m: m.text.startswith("📝") and f"⚠️ {told}" in m.text.splitlines()
    )
    assert board.buttons
    prompt = await telegram.telegram.message_where(
        lambda m: m.forces_reply and m.reply_to == wrong.id
    )
    assert prompt.text.splitlines()[2:] == [f"⚠️ {told}"]


async def test_a_text_that_is_too_long(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    await telegram.press("Answer…")

    wrong = await telegram.write("Your answer", "x" * 4_001)

    await asked_again(telegram, wrong, "this must be at most 4,000 characters")
    assert not waiting.done()
    await telegram.write("at most 4,000", "x" * 4_000)
    assert (await waiting).answer == "x" * 4_000
    await both_cards(scene, "Answered by alice")


@pytest.mark.parametrize(
    ("opens", "label"),
    [("Deny with a reason…", "Reason"), ("Ask for changes…", "What should change")],
)
async def test_a_reason_that_is_too_long(
    scene: Asked, telegram: TelegramHands, opens: str, label: str
) -> None:
    waiting = scene.ask(scene.gate.check(CALL))
    await telegram.press(opens)

    wrong = await telegram.write(label, "x" * 1_001)

    await asked_again(telegram, wrong, "this must be at most 1,000 characters")
    assert not waiting.done()
    await telegram.write("at most 1,000", "no")
    assert (await waiting).reason == "no"


@pytest.mark.parametrize(
    ("seats", "told"),
    [
        ("two", "this must be a whole number, such as 3"),
        ("2.5", "this must be a whole number, such as 3"),
        ("0", "this must be at least 1"),
        ("10", "this must be at most 9"),
    ],
)
async def test_a_number_that_is_none_or_out_of_range(
    scene: Asked, telegram: TelegramHands, seats: str, told: str
) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")

    wrong = await telegram.write("Seats", seats)

    await asked_again(telegram, wrong, told)
    await telegram.write(told, "2")
    await telegram.answer("Class", "second")
    await telegram.press_form("Is all of this right?", "Send")
    assert (await waiting).data == {"seats": 2, "class": "second"}


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        ("number", "heavy", "this must be a number, such as 2.5"),
        ("date", "tomorrow", "this must be a date, such as 2026-11-21"),
    ],
)
async def test_a_value_of_the_wrong_type(
    scene: Asked, telegram: TelegramHands, kind: str, written: str, told: str
) -> None:
    one = {"type": "number"} if kind == "number" else {"type": "string", "format": "date"}
    schema = {"type": "object", "properties": {"it": one}, "required": ["it"]}
    waiting = scene.ask(scene.gate.collect(schema, text="What is it?"))
    await telegram.press("Fill in…")

    wrong = await telegram.write("it", written)

    await asked_again(telegram, wrong, told)
    assert not waiting.done()


async def test_a_part_that_is_filled_in_by_half(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.collect(HALF, text="Who lives where?"))
    await telegram.press("Fill in…")
    await telegram.write("Name", "Bob")
    await telegram.write("To", '{"floor": 3}')

    again = await telegram.prompt("is a required property")
    assert 'this does not fit: "street" is a required property' in again.text
    await telegram.write("required property", '{"street": "Main Street 1", "floor": 3}')
    await telegram.press_form("Is all of this right?", "Send")
    assert (await waiting).data == {"name": "Bob", "to": {"street": "Main Street 1", "floor": 3}}


async def test_an_option_that_does_not_exist(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")
    await telegram.write("Seats", "2")
    board = await telegram.asked("Class")

    there = board.buttons["second"]
    assert there.endswith(":pick:1")
    pressed = await telegram.telegram.press_data(board, f"{there[:-1]}2", by="alice")

    assert pressed.toast == "The form has changed in the meantime."
    await telegram.answer("Class", "second")
    await telegram.press_form("Is all of this right?", "Send")
    assert (await waiting).data == {"seats": 2, "class": "second"}


async def test_a_button_that_does_not_exist(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us")))
    card = await telegram.message()

    data = card.buttons["us"].replace("option-2", "option-3")
    pressed = await telegram.telegram.press_data(card, data, by="alice")

    assert (pressed.toast, pressed.alert) == ("This card has no such button.", True)
    assert not waiting.done()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("to staging", "line 1 is neither JSON nor name=value"),
        ("stage=x", "there is no argument 'stage', only environment, release; use JSON to add one"),
        ("release=next", "'release' is not a string, so its value must be JSON"),
    ],
)
async def test_arguments_that_cannot_be_read(
    scene: Asked, telegram: TelegramHands, written: str, told: str
) -> None:
    waiting = scene.ask(scene.gate.check(CALL))
    await telegram.press("Edit arguments…")

    wrong = await telegram.write("Arguments", written)

    await asked_again(telegram, wrong, told)
    assert not waiting.done()
    await telegram.write("⚠️", "release=43")
    assert (await waiting).arguments == {"environment": "production", "release": 43}


@pytest.mark.parametrize("who", ["mallory", "carol", "bob"])
async def test_a_reply_by_another_person(scene: Asked, telegram: TelegramHands, who: str) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us")))
    await telegram.press("Other…")

    theirs = await telegram.write("Your answer", "mine!", by=who)

    assert await telegram.told(theirs) == (
        "This question is Alice's: your reply decides nothing. "
        "To answer it yourself, press Other… on the card."
    )
    assert not waiting.done()
    await telegram.write("Your answer", "ap")
    answer = await waiting
    assert (answer.answer, answer.decided_by) == ("ap", "telegram:4242")


@pytest.mark.parametrize("who", ["mallory", "carol"])
async def test_a_form_opened_by_somebody_who_may_not_decide_this(
    scene: Asked, telegram: TelegramHands, who: str
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    await telegram.message()
    before = len(telegram.telegram.messages())

    pressed = await telegram.pressed("Answer…", by=who)

    assert (pressed.toast, pressed.alert) == (NOT_YOURS, True)
    assert len(telegram.telegram.messages()) == before
    assert not waiting.done()


async def test_a_button_of_anothers_form(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")
    await telegram.write("Seats", "2")

    pressed = await telegram.press_form("❓ Class", "first", by="bob")

    told = "This form is Alice's: press Fill in… on the card."
    assert (pressed.toast, pressed.alert) == (told, True)
    assert not waiting.done()


async def test_a_reply_by_an_anonymous_admin(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    await telegram.press("Answer…")
    prompt = await telegram.prompt("Your answer")

    reply = telegram.telegram.say(prompt.chat, "ap", by="alice", reply_to=prompt, anonymous=True)

    assert await telegram.told(reply) == (
        "This was sent in the name of a chat or an anonymous admin, so nobody can tell whose "
        "answer it is. It decides nothing: reply as yourself."
    )
    assert not waiting.done()


async def test_a_reply_that_is_edited(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")
    reply = await telegram.write("Seats", "2")
    await telegram.asked("Class")

    telegram.telegram.correct(reply, "9")

    await telegram.answer("Class", "first")
    await telegram.press_form("Is all of this right?", "Send")
    assert (await waiting).data == {"seats": 2, "class": "first"}


async def test_a_reply_that_is_edited_after_it_was_sent_off(
    scene: Asked, telegram: TelegramHands
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    await telegram.press("Answer…")
    reply = await telegram.write("Your answer", "ap")
    assert (await waiting).answer == "ap"
    await both_cards(scene, "Answered by alice")

    telegram.telegram.correct(reply, "eu")

    assert "Answer ap" in await telegram.ended("Answered by alice")


FILE = {"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9}
STICKER = {**FILE, "type": "regular", "is_animated": False, "is_video": False}


@pytest.mark.parametrize("attached", [{"photo": [FILE]}, {"sticker": STICKER}])
async def test_a_picture_in_place_of_a_text(
    scene: Asked, telegram: TelegramHands, attached: dict[str, object]
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    await telegram.press("Answer…")
    prompt = await telegram.prompt("Your answer")

    reply = telegram.telegram.say(prompt.chat, "", by="alice", reply_to=prompt, attached=attached)

    assert await telegram.told(reply) == NOT_TEXT
    assert not waiting.done()
    await telegram.write("Your answer", "ap")
    assert (await waiting).answer == "ap"


async def test_a_reply_that_arrives_after_somebody_else_decided(
    scene: Asked, telegram: TelegramHands
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us")))
    await telegram.press("Other…")
    prompt = await telegram.prompt("Your answer")
    # Written while the question is open, and under way until it no longer is.
    reply = TelegramMessage(
        prompt.chat,
        telegram.telegram.state.next_message_id(),
        4242,
        telegram.telegram.state.now(),
        "ap, after all",
        reply_to=prompt.id,
    )
    content = telegram.telegram.state.message_json(telegram.telegram.state.post(reply))
    assert content["reply_to_message"]["message_id"] == prompt.id
    await telegram.press("us", by="bob")
    await waiting
    await both_cards(scene, "Answered by bob")

    telegram.telegram.add_update("message", content)

    late = "Too late: this was already answered by bob (telegram:4343)."
    assert await telegram.told(reply) == late
    assert (await waiting).answer == "us"


async def test_a_form_says_that_the_question_expired(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?", timeout=0.8))
    await telegram.press("Fill in…")
    board = await telegram.asked("Seats")
    await waiting
    late = "Too late: this was already expired."
    over = await telegram.telegram.message_where(
        lambda m: m.id == board.id and not m.buttons and late in m.text
    )

    pressed = await telegram.telegram.press(board, "Cancel", by="alice")
    reply = telegram.telegram.reply(over, "2", by="alice")

    assert (pressed.toast, pressed.alert) == (late, True)
    assert await telegram.told(reply) == late


async def test_a_reply_that_is_delivered_twice_counts_once(
    scene: Asked, telegram: TelegramHands
) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")
    prompt = await telegram.prompt("Seats")

    telegram.telegram.misbehave("callback", DeliverTwice())
    reply = telegram.telegram.reply(prompt, "2", by="alice")

    board = await telegram.asked("Class")
    assert board.text.count("✓ Seats 2") == 1
    await telegram.telegram.until(lambda: not telegram.telegram.updates.pending)
    assert not [one for one in telegram.telegram.messages() if one.reply_to == reply.id]
    telegram.telegram.misbehave("callback", DeliverTwice())
    await telegram.press_form("❓ Class", "first")
    await telegram.press_form("Is all of this right?", "Send")
    assert (await waiting).data == {"seats": 2, "class": "first"}
    await both_cards(scene, "Answered by alice")


async def test_a_form_that_was_sent_off_twice(scene: Asked, telegram: TelegramHands) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")
    await telegram.write("Seats", "2")
    await telegram.answer("Class", "first")
    summary = await telegram.telegram.message_where(lambda m: "Send" in m.buttons)

    first = await telegram.telegram.press(summary, "Send", by="alice")
    again = await telegram.telegram.press(summary, "Send", by="alice")

    assert (first.toast, first.alert) == ("Answered.", False)
    assert (again.toast, again.alert) == ("Answered.", True)
    assert (await waiting).data == {"seats": 2, "class": "first"}


async def test_a_question_that_was_answered_is_not_answered_again(
    scene: Asked, telegram: TelegramHands
) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    await telegram.press("Fill in…")
    reply = await telegram.write("Seats", "2")
    board = await telegram.asked("Class")

    again = telegram.telegram.reply(board, "3", by="alice")

    told = "This was answered already: the form above shows where it stands."
    assert await telegram.told(again) == told
    assert reply.id != again.id
    assert not waiting.done()
