"""What a dialogue shows, before any platform renders it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.dialogues import (
    COUNT,
    DAY,
    DRY,
    NAME,
    NOTE,
    SEEN,
    TAGS,
    WHY,
    YES,
    a_dialogue,
    press,
)

from sayso.dialogues.dialogue import Dialogue, Ended, Filled
from sayso.dialogues.moves import typed
from sayso.dialogues.view import Board, Given, Question, board, prompt
from sayso.forms.form import FormField


def the_board(dialogue: Dialogue, options_a_page: int = 5) -> Board:
    return board(dialogue, options_a_page=options_a_page)


def question(dialogue: Dialogue) -> Question:
    asked = the_board(dialogue).question
    assert asked is not None
    return asked


def labels(dialogue: Dialogue, options_a_page: int = 5) -> list[list[str]]:
    rows = the_board(dialogue, options_a_page).rows
    return [[offer.label for offer in row] for row in rows]


def test_a_page_has_as_many_options_as_the_platform_takes() -> None:
    second = press(a_dialogue(TAGS), "page", 1)

    assert labels(second)[:3] == [
        ["tag 5", "tag 6", "tag 7"],
        ["tag 8", "tag 9"],
        ["‹", "2/20", "›"],
    ]
    assert (question(second).first, question(second).choices[0]) == (6, "tag 5")
    assert [row[1] for row in labels(press(second, "page", 99), 3) if row[0] == "‹"] == ["34/34"]


def test_options_with_long_labels_have_a_row_each() -> None:
    long = replace(WHY, suggestions=("Too risky", "Not before the backup is done"))

    assert labels(a_dialogue(long))[:2] == [["Too risky"], ["Not before the backup is done"]]


@pytest.mark.parametrize(
    ("field", "can_type", "how"),
    [
        (NAME, True, "Reply with your answer."),
        (WHY, True, "Reply with your answer, or press a button."),
        (COUNT, True, "Reply with a whole number, such as 3."),
        (DAY, True, "Reply with a date, such as 2026-11-21."),
        (
            replace(COUNT, initial=3),
            True,
            "Reply with a whole number, such as 3, or press a button.",
        ),
        (WHY, False, "Nobody can type an answer here: press a button."),
        (YES, True, ""),
    ],
)
def test_a_question_says_how_to_answer_it(field: FormField, can_type: bool, how: str) -> None:
    dialogue = a_dialogue(field, can_type=can_type)

    assert question(dialogue).how == how
    assert the_board(dialogue).is_quiet == dialogue.is_typed


def test_what_can_be_kept_has_a_button_that_says_it_or_stands_for_it() -> None:
    keep = question(a_dialogue(replace(NAME, initial="Bob"))).keep

    assert keep is not None
    assert (keep.label, keep.short) == ("Keep: Bob", "Keep it as it is")
    assert question(a_dialogue(NAME)).keep is None


def test_what_was_taken_away_from_the_last_field_is_told_once_it_is_sent() -> None:
    sent = press(press(a_dialogue(YES, DRY), "yes"), "skip")
    assert sent.state == Filled()

    told = the_board(replace(sent, state=Ended("Sent.")))

    assert told.answers == (Given("Really?", "Yes"), Given("Dry run", "Yes", was_removed=True))
    assert (told.ended, told.rows, told.step, told.question) == ("Sent.", (), None, None)


def test_a_summary_counts_no_questions_and_asks_none() -> None:
    summary = press(typed(a_dialogue(NAME, YES, confirms=True), "Bob", "1"), "no")

    assert (the_board(summary).step, the_board(summary).question) == (None, None)
    assert labels(summary) == [["Send"], ["« Back", "Cancel"]]
    assert the_board(summary).rows[0][0].is_main


def test_picked_options_are_shown_and_counted() -> None:
    begun = a_dialogue(SEEN)

    assert labels(begun)[:2] == [["S", "✓ L"], ["Done (1)"]]
    assert labels(press(begun, "unpick", 1))[:2] == [["S", "L"], ["Done: none of them"]]
    assert labels(begun)[2] == ["Remove it", "Cancel"]
    assert labels(a_dialogue(NOTE)) == [["Skip", "Cancel"]]


def test_a_prompt_is_there_only_while_something_is_asked() -> None:
    with pytest.raises(ValueError, match="only while it asks"):
        prompt(typed(a_dialogue(NAME), "Bob", "1"))
