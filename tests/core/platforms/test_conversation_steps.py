"""The step after each answer of a conversation, and how conversations and buttons are written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.conversations import (
    COUNT,
    DAY,
    ID,
    NAME,
    NOTE,
    SIZE,
    TAGS,
    WHY,
    YES,
    a_conversation,
    press,
)

from sayso.forms.form import FormField, Option
from sayso.platforms.conversation_steps import (
    FormButton,
    correct,
    end,
    press_button,
    read_button,
    read_conversation,
    type_answer,
    write_button,
    write_conversation,
)


def test_fields_are_asked_one_after_the_other() -> None:
    first = a_conversation(NAME, YES, COUNT)
    second = type_answer(first, "Bob", "1")
    third = press(second, "pick", 0)
    sent = type_answer(third, " 3 ", "2")

    assert [c.field.name for c in (first, second, third) if c.field] == ["name", "yes", "count"]
    assert (sent.state, sent.values) == ("filled", {"name": "Bob", "yes": "false", "count": "3"})


@pytest.mark.parametrize(
    ("field", "text", "why"),
    [
        (COUNT, "many", "a whole number"),
        (COUNT, "0", "at least 1"),
        (DAY, "tomorrow", "a date, such as 2026-11-21"),
        (FormField("p", "P", schema='{"pattern": "^[a-z]+$"}'), "A1", "matches"),
        (FormField("j", "J", "json", schema='{"type": "array"}'), "{}", 'not of type "array"'),
    ],
)
def test_a_wrong_answer_is_told_why_and_asked_again(field: FormField, text: str, why: str) -> None:
    before = type_answer(a_conversation(NAME, field), "Bob", "1")
    again = type_answer(before, text, "2")

    assert again.field == before.field
    assert why in again.problem
    assert again.values == {"name": "Bob"}


def test_skip_leaves_an_optional_field_out_and_no_other() -> None:
    assert press_button(a_conversation(NAME), FormButton(ID, 0, "skip")) is None
    back = press(type_answer(a_conversation(NOTE, YES), "x", "1"), "back")

    assert press(back, "skip").values == {}


def test_options_are_picked_and_taken_back_and_picking_twice_picks_once() -> None:
    assert a_conversation(replace(TAGS, initial=[3, 7])).picked == ["3", "7"]
    picked = press(press(press(a_conversation(TAGS), "pick", 5), "pick", 5), "pick", 2)

    assert picked.picked == ["2", "5"]
    assert press(picked, "unpick", 2).picked == ["5"]
    assert press(picked, "done").values == {"tags": ["2", "5"]}
    told = press(press(picked, "pick", 9), "done")
    assert "at most 2 of the options" in told.problem
    assert "an answer is needed" in press(a_conversation(TAGS), "done").problem


@pytest.mark.parametrize("initial", [True, 9, "S", ["S"]])
def test_a_value_that_is_no_option_is_not_begun_with(initial: Any) -> None:
    assert a_conversation(replace(SIZE, initial=initial)).values == {}


@pytest.mark.parametrize(
    ("word", "number"), [("pick", 2), ("done", 0), ("keep", 0), ("send", 0), ("back", 0)]
)
def test_a_button_that_the_question_does_not_have_does_nothing(word: Any, number: int) -> None:
    assert press_button(a_conversation(WHY), FormButton(ID, 0, word, number)) is None
    assert press_button(a_conversation(SIZE), FormButton(ID, 0, word, number)) is None


def test_a_button_of_an_earlier_question_does_nothing() -> None:
    second = press(a_conversation(YES, COUNT), "pick", 1)

    assert press_button(second, FormButton(ID, 0, "pick", 0)) is None


def test_a_refusal_leads_back_to_the_first_field_with_all_values_kept() -> None:
    named = type_answer(a_conversation(NAME, YES, COUNT), "Bob", "1")
    sent = type_answer(press(named, "pick"), "3", "2")
    first = correct(sent, {"count": "too many", "name": "nobody"})
    kept = press(type_answer(first, "Eve", "3"), "keep")

    assert (first.field, first.problem) == (sent.form.fields[0], "nobody")
    assert type_answer(kept, "2", "4").values == {"name": "Eve", "yes": "false", "count": "2"}
    assert correct(sent, {"": "they do not go together"}).step == 2


def test_a_form_that_falls_back_is_left_out_with_nothing() -> None:
    left_out = press(press(a_conversation(WHY, NAME, falls_back="deny"), "pick", 1), "cancel")

    assert (left_out.state, left_out.values) == ("left_out", {})
    assert press(a_conversation(NAME), "cancel").ended == "Cancelled: nothing was decided."


def test_nothing_is_taken_once_everything_is_answered() -> None:
    filled = type_answer(a_conversation(NAME), "Bob", "1")

    assert press_button(filled, FormButton(ID, 0, "cancel")) is None
    with pytest.raises(ValueError, match="needs a question"):
        type_answer(filled, "Eve", "2")


def test_a_conversation_is_kept_as_text_and_read_again() -> None:
    options = (Option("object", {"a": object()}), Option("set", {1}))
    asked = a_conversation(NAME, TAGS, replace(SIZE, options=options), note="Look.")
    conversation = press(type_answer(asked, "Bob 💩", "9"), "pick", 4)

    assert read_conversation(write_conversation(conversation)) == conversation
    ended = end(type_answer(asked, "a secret", "1"), "Too late.")
    assert "a secret" not in write_conversation(ended)


@pytest.mark.parametrize("text", ["", "{}", "[]", "7", '{"conversation_id": 1}'])
def test_text_of_another_version_is_no_conversation(text: str) -> None:
    assert read_conversation(text) is None


def test_the_longest_button_fits_the_64_bytes_of_the_strictest_platform() -> None:
    assert len(write_button(FormButton("x" * 39, 999, "unpick", 999)).encode()) <= 64


@pytest.mark.parametrize(
    "data",
    [
        "",
        "f1:short:1:pick:0",
        f"f1:{ID}:1:decide:0",
        f"f1:{ID}:-1:pick:0",
        f"f1:{ID}:1:pick:1000",
        f"f1:{ID}:1:pick:0\n",
        f"f2:{ID}:1:pick:0",
        f"f1:{ID}:１:pick:0",
        f"p1:{ID}:allow",
    ],
)
def test_other_callback_data_is_no_forms_button(data: str) -> None:
    assert read_button(data) is None


def test_a_button_that_could_not_be_read_is_not_made() -> None:
    with pytest.raises(ValueError, match="a conversation, a step"):
        write_button(FormButton("short", 1, "pick"))
