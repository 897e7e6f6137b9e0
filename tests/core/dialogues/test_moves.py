"""What each answer leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.dialogues import (
    COUNT,
    DAY,
    ID,
    NAME,
    NOTE,
    SIZE,
    TAGS,
    WHY,
    YES,
    YES_TOO,
    a_dialogue,
    asking,
    press,
)

from sayso.dialogues.buttons import FormButton
from sayso.dialogues.dialogue import Asking, Filled, LeftOut
from sayso.dialogues.moves import pressed, stumbled, typed
from sayso.forms.form import FormField


def test_one_field_is_all_there_is_to_answer() -> None:
    sent = typed(a_dialogue(NAME, confirms=True), "Bob", "1")

    assert (sent.state, sent.values) == (Filled(), {"name": "Bob"})


def test_fields_are_asked_one_after_the_other() -> None:
    first = a_dialogue(NAME, YES, COUNT)
    second = typed(first, "Bob", "1")
    third = press(second, "no")
    sent = typed(third, " 3 ", "2")

    assert [d.field.name for d in (first, second, third) if d.field] == ["name", "yes", "count"]
    assert (sent.state, sent.values) == (Filled(), {"name": "Bob", "yes": "false", "count": "3"})


@pytest.mark.parametrize(
    ("field", "text", "why"),
    [
        (COUNT, "many", "a whole number"),
        (COUNT, "0", "at least 1"),
        (DAY, "tomorrow", "a date, such as 2026-11-21"),
        (FormField("n", "N", "number"), "inf", "a finite number"),
        (FormField("p", "P", schema='{"pattern": "^[a-z]+$"}'), "A1", "matches"),
    ],
)
def test_a_wrong_answer_is_told_why_and_asked_again(field: FormField, text: str, why: str) -> None:
    before = typed(a_dialogue(NAME, field), "Bob", "1")
    again = typed(before, text, "2")

    assert again.field == before.field
    assert why in asking(again).problem
    assert again.values == {"name": "Bob"}
    assert again.visit == before.visit + 1


def test_only_optional_fields_can_be_skipped() -> None:
    assert pressed(a_dialogue(NAME), FormButton(ID, 1, "skip")) is None
    skipped = press(a_dialogue(NOTE, YES), "skip")
    assert skipped.field is not None
    assert skipped.field.name == "yes"


def test_skipping_takes_an_earlier_answer_back() -> None:
    back = press(typed(a_dialogue(NOTE, YES), "x", "1"), "back")

    assert press(back, "skip").values == {}


def test_several_options_begin_with_what_they_begin_with() -> None:
    assert asking(a_dialogue(replace(TAGS, initial=[3, 7]))).picked == ["3", "7"]


@pytest.mark.parametrize("initial", [True, 9, "S", ["S"]])
def test_what_is_none_of_the_options_cannot_be_kept(initial: Any) -> None:
    assert a_dialogue(replace(SIZE, initial=initial)).initial == {}


def test_too_many_options_are_told_and_stay_picked() -> None:
    picked = a_dialogue(TAGS)
    for number in (1, 2, 3):
        picked = press(picked, "pick", number)
    told = press(picked, "done")

    assert "at most 2 of the options" in asking(told).problem
    assert asking(told).picked == ["1", "2", "3"]
    assert "an answer is needed" in asking(press(a_dialogue(TAGS), "done")).problem


@pytest.mark.parametrize(
    ("word", "number"),
    [("yes", 0), ("option", 0), ("pick", 0), ("done", 0), ("suggest", 2), ("keep", 0), ("send", 0)],
)
def test_a_button_that_the_question_does_not_have_does_nothing(word: Any, number: int) -> None:
    assert pressed(a_dialogue(WHY), FormButton(ID, 1, word, number)) is None


def test_a_position_beyond_the_options_does_nothing() -> None:
    assert pressed(a_dialogue(SIZE), FormButton(ID, 1, "option", 2)) is None
    assert pressed(a_dialogue(TAGS), FormButton(ID, 1, "pick", 100)) is None


def test_back_is_not_there_at_the_first_question() -> None:
    assert pressed(a_dialogue(NAME, YES), FormButton(ID, 1, "back")) is None


def test_a_button_of_an_earlier_visit_does_nothing() -> None:
    dialogue = a_dialogue(YES, YES_TOO)

    assert pressed(press(dialogue, "yes"), FormButton(ID, dialogue.visit, "no")) is None


def test_after_a_refusal_only_what_does_not_fit_is_asked_again() -> None:
    sent = typed(press(typed(a_dialogue(NAME, YES, COUNT), "Bob", "1"), "yes"), "3", "2")
    first = stumbled(sent, {"count": "too many", "name": "nobody"})
    second = typed(first, "Eve", "3")
    again = typed(second, "2", "4")

    assert (first.field, asking(first).problem) == (sent.form.fields[0], "nobody")
    assert second.field == sent.form.fields[2]
    assert (again.state, again.values) == (Filled(), {"name": "Eve", "yes": "true", "count": "2"})


def test_a_problem_of_no_field_is_told_at_the_last_one() -> None:
    sent = typed(typed(a_dialogue(NAME, COUNT), "Bob", "1"), "3", "2")
    again = stumbled(sent, {"": "these do not go together"})

    assert again.state == Asking(1, problem="these do not go together", again=[])
    assert typed(again, "4", "3").state == Filled()


def test_words_for_what_counts_anyway_can_be_left_out() -> None:
    dialogue = a_dialogue(WHY, NAME, falls_back="deny")
    left_out = press(press(dialogue, "suggest", 1), "cancel")

    assert (left_out.state, left_out.values, left_out.initial) == (LeftOut(), {}, {})
    assert press(a_dialogue(NAME), "cancel").ended == "Cancelled: nothing was decided."


def test_whoever_goes_back_after_a_refusal_is_asked_everything_from_there() -> None:
    refused = stumbled(typed(press(a_dialogue(YES, COUNT, NAME), "no"), "3", "1"), {"count": "no"})
    back = press(refused, "back")

    assert back.field == YES
    assert press(back, "no").field == back.form.fields[1]
    assert asking(back).again is None


def test_nothing_is_taken_once_everything_is_answered() -> None:
    filled = typed(a_dialogue(NAME), "Bob", "1")

    assert pressed(filled, FormButton(ID, filled.visit, "cancel")) is None
    with pytest.raises(ValueError, match="only while it asks"):
        typed(filled, "Eve", "2")
