"""How a conversation looks in Telegram."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.conversations import (
    COUNT,
    DAY,
    DRY,
    NAME,
    NOTE,
    SIZE,
    TAGS,
    WHY,
    YES,
    a_conversation,
    press,
)

from sayso.forms.form import MOST_FIELDS, Form, FormField, Option
from sayso.platforms.conversation_steps import Conversation, correct, end, type_answer
from sayso.platforms.conversation_view import show_board, show_prompt
from sayso_telegram.conversation_chat import (
    board_keyboard,
    board_message,
    display_name,
    find_long_options,
    force_reply,
    prompt_message,
)
from sayso_telegram.formatted_text import Formatted, count_units


def board(conversation: Conversation) -> Formatted:
    return board_message(show_board(conversation))


def prompt(conversation: Conversation) -> Formatted:
    return prompt_message(show_prompt(conversation))


def labels(conversation: Conversation) -> list[str]:
    keyboard = board_keyboard(show_board(conversation))
    return [button.text for row in keyboard.inline_keyboard for button in row] if keyboard else []


def test_a_form_that_confirms_shows_all_answers_before_it_is_sent() -> None:
    summary = press(type_answer(a_conversation(NAME, YES, confirms=True), "Bob", "1"), "pick", 1)

    assert labels(summary) == ["Send", "« Back", "Cancel"]
    assert "✓ Name Bob\n✓ Really? Yes" in board(summary).text
    assert press(summary, "send").state == "filled"
    assert press(press(summary, "back"), "pick", 0).values["yes"] == "false"


def test_a_form_says_which_card_it_is_for() -> None:
    which, begins = "Call 3 of 8 · run_command · 839aaa1f7083", "command: rm -r build"
    conversation = a_conversation(NAME, which=which, begins=begins)

    for shown in (board(conversation), prompt(conversation), board(end(conversation, "Too late."))):
        assert f"\n{which}\n{begins}" in shown.text


def test_back_offers_to_keep_what_was_said() -> None:
    back = press(type_answer(a_conversation(NAME, YES), "Bob", "1"), "back")

    assert labels(back) == ["Keep: Bob", "Cancel"]
    assert press(back, "keep").values == {"name": "Bob"}


@pytest.mark.parametrize(
    ("field", "initial", "label", "raw"),
    [
        (NAME, "Bob", "Keep: Bob", "Bob"),
        (COUNT, 3, "Keep: 3", "3"),
        (YES, False, "Keep: No", "false"),
        (SIZE, 2, "Keep: L", "1"),
        (DAY, "2026-11-21", "Keep: 2026-11-21", "2026-11-21"),
    ],
)
def test_what_a_field_begins_with_can_be_kept(
    field: FormField, initial: Any, label: str, raw: str
) -> None:
    conversation = a_conversation(replace(field, initial=initial))

    assert label in labels(conversation)
    assert press(conversation, "keep").values == {field.name: raw}


def test_a_long_text_to_begin_with_stands_on_the_board_to_be_copied() -> None:
    text = '{\n  "command": "@all"\n}'
    conversation = a_conversation(replace(NAME, initial=text))

    assert f"So far:\n{text}" in board(conversation).text
    assert {entity.type for entity in board(conversation).entities} == {
        "bold",
        "code",
        "text_mention",
        "pre",
    }
    assert labels(conversation)[0] == "Keep it as it is"
    assert press(conversation, "keep").values == {"name": text}


def test_ready_made_answers_are_buttons_and_anything_else_can_be_type_answer() -> None:
    conversation = a_conversation(WHY)

    assert labels(conversation) == ["Too risky", "Not now", "Cancel"]
    assert press(conversation, "pick", 1).values == {"why": "Not now"}
    assert type_answer(conversation, "because", "1").values == {"why": "because"}


def test_what_a_button_cannot_show_stands_on_the_board_in_full() -> None:
    long = "Only after the backup of the production database was tried out and found to work"
    conversation = a_conversation(replace(WHY, suggestions=("No", long)))

    assert f"2. {long}" in board(conversation).text
    assert labels(conversation)[1].endswith("…")


def test_what_is_over_keeps_no_values_and_has_no_buttons() -> None:
    ended = end(type_answer(a_conversation(NAME, YES), "a secret", "1"), "Too late.")

    assert labels(ended) == []
    assert "Too late." in board(ended).text
    assert "a secret" not in board(ended).text


@pytest.mark.parametrize("field", [NAME, COUNT, DAY, FormField("long", "💩" * 100)])
def test_the_placeholder_fits_telegrams_limit(field: FormField) -> None:
    placeholder = force_reply(show_prompt(a_conversation(field))).input_field_placeholder

    assert placeholder
    assert 1 <= count_units(placeholder) <= 64


def test_the_fullest_form_fits_a_message() -> None:
    wide = "💩" * 100
    fields = tuple(FormField(f"f{number}", wide, hint=wide * 9) for number in range(MOST_FIELDS))
    conversation = a_conversation(
        *fields, note=wide * 9, confirms=True, which=wide, begins=wide[:80], falls_back="deny"
    )
    for number in range(MOST_FIELDS):
        assert count_units(board(conversation).text) <= 4096
        assert len(board(conversation).entities) <= 100
        conversation = type_answer(conversation, "💩" * 2_000, str(number))

    assert conversation.field is None
    assert count_units(board(conversation).text) <= 4096
    assert count_units(board(correct(conversation, {"f0": wide * 99})).text) <= 4096


def test_the_longest_options_below_all_answers_fit_a_message() -> None:
    options = tuple(Option("💩" * 500, number) for number in range(90))
    wide = "💩" * 100
    before = tuple(FormField(f"f{number}", "💩" * 100) for number in range(MOST_FIELDS - 1))
    conversation = a_conversation(*before, replace(TAGS, options=options), which=wide, begins=wide)
    for number in range(MOST_FIELDS - 1):
        conversation = type_answer(conversation, "💩" * 2_000, str(number))

    shown = board(conversation)
    assert count_units(shown.text) <= 4096
    assert count_units(shown.without_entities) <= 4096
    assert len(shown.entities) <= 100


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Alice", "Alice"), ("", "user 4242"), ("a\u202eb\nc", "a⟨U+202E⟩b⏎c"), (" ", "user 4242")],
)
def test_a_name_is_shown_on_one_line_without_tricks(name: str, shown: str) -> None:
    assert display_name(name, 4242) == shown


def test_a_long_name_is_cut() -> None:
    assert count_units(display_name("💩" * 64, 1)) <= 48


def test_a_wrong_answer_is_told_why_on_the_board_and_where_it_is_asked_again() -> None:
    again = type_answer(type_answer(a_conversation(NAME, COUNT), "Bob", "1"), "many", "2")

    assert "a whole number" in board(again).text
    assert "a whole number" in prompt(again).text


def test_only_what_can_be_pressed_has_a_button() -> None:
    assert labels(a_conversation(NAME, YES)) == ["Cancel"]
    assert labels(a_conversation(NOTE)) == ["Skip", "Cancel"]
    assert "Leave it out" in labels(a_conversation(WHY, NAME, falls_back="deny"))


def test_a_value_that_is_there_is_kept_or_left_out() -> None:
    begun = a_conversation(DRY, YES, confirms=True)
    assert labels(begun) == ["Yes", "No", "Keep: Yes", "Skip", "Cancel"]

    kept = press(press(begun, "keep"), "pick", 0)
    left_out = press(press(begun, "skip"), "pick", 0)

    assert "✓ Dry run Yes\n✓ Really? No" in board(kept).text
    assert "Dry run" not in board(left_out).text


def test_options_that_are_picked_are_shown_and_counted() -> None:
    begun = a_conversation(replace(TAGS, options=SIZE.options))

    assert labels(begun)[:3] == ["S", "L", "Done: none of them"]
    assert labels(press(begun, "pick", 1))[:3] == ["S", "✓ L", "Done (1)"]


def test_all_options_that_the_limits_allow_have_a_button() -> None:
    assert len(labels(a_conversation(replace(TAGS, required=False)))) == 90 + 3


def test_options_that_would_fill_the_message_are_found() -> None:
    long = tuple(Option("x" * 100, number) for number in range(30))
    many = tuple(Option("x" * 40, number) for number in range(90))

    assert find_long_options(Form("A form", (replace(SIZE, options=long),))) == "Size"
    assert find_long_options(Form("A form", (replace(SIZE, options=many),))) == ""
    assert find_long_options(Form("A form", (NAME, SIZE))) == ""


@pytest.mark.parametrize(
    ("field", "can_type", "how"),
    [
        (NAME, True, "Reply with your answer."),
        (WHY, True, "Reply with your answer, or press a button."),
        (COUNT, True, "Reply with a whole number, such as 3."),
        (replace(DAY, initial="2026-11-21"), True, "Reply with a date, such as 2026-11-21, or pr"),
        (FormField("j", "J", "json"), True, "Reply with JSON."),
        (WHY, False, "Nobody can type an answer here: press a button."),
    ],
)
def test_a_question_says_how_to_answer_it(field: FormField, can_type: bool, how: str) -> None:
    assert how in board(a_conversation(field, can_type=can_type)).text
