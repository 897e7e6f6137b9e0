"""How a dialogue looks in Telegram."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support import dialogues
from support.dialogues import COUNT, DAY, DRY, NAME, NOTE, SEEN, SIZE, TAGS, WHY, YES, asking, press

from sayso.dialogues import view
from sayso.dialogues.dialogue import Dialogue, Filled
from sayso.dialogues.moves import over, stumbled, typed
from sayso.forms.form import MOST_FIELDS, FormField, Option
from sayso_telegram.card.formatted import Formatted, units
from sayso_telegram.forms.view import (
    OPTIONS_A_PAGE,
    board_keyboard,
    board_message,
    force_reply,
    prompt_message,
    shown_name,
)


def a_dialogue(*fields: FormField, **changes: Any) -> Dialogue:
    """Somebody's on Telegram, at its first question."""
    return dialogues.a_dialogue(*fields, actor="telegram:4242", **changes)


def the_board(dialogue: Dialogue) -> view.Board:
    return view.board(dialogue, options_a_page=OPTIONS_A_PAGE)


def board(dialogue: Dialogue) -> Formatted:
    return board_message(the_board(dialogue))


def prompt(dialogue: Dialogue) -> Formatted:
    return prompt_message(view.prompt(dialogue))


def labels(dialogue: Dialogue) -> list[str]:
    keyboard = board_keyboard(the_board(dialogue))
    return [button.text for row in keyboard.inline_keyboard for button in row] if keyboard else []


def test_a_form_that_confirms_shows_all_answers_before_it_is_sent() -> None:
    summary = press(typed(a_dialogue(NAME, YES, confirms=True), "Bob", "1"), "yes")

    assert labels(summary) == ["Send", "« Back", "Cancel"]
    assert "✓ Name Bob\n✓ Really? Yes" in board(summary).text
    assert press(summary, "send").state == Filled()
    assert press(press(summary, "back"), "no").values["yes"] == "false"


def test_what_a_field_begins_with_is_removed_and_never_skipped() -> None:
    dialogue = a_dialogue(DRY, NOTE, SEEN, YES, confirms=True)
    assert {"Remove it", "Keep: Yes"} <= set(labels(dialogue))
    assert "Skip" not in labels(dialogue)

    second = press(dialogue, "skip")
    assert "Skip" in labels(second)
    assert "Seen" not in board(second).text
    third = press(second, "skip")
    emptied = press(press(third, "unpick", 1), "done")
    summary = press(emptied, "no")

    assert "✗ Dry run: removed, was Yes" in board(third).text
    assert (
        "✓ Really? No\n✗ Dry run: removed, was Yes\n✗ Seen: removed, was L" in board(summary).text
    )
    assert "Note" not in board(summary).text
    assert summary.values == {"yes": "false"}


def test_what_is_kept_after_all_is_not_called_removed() -> None:
    back = press(press(a_dialogue(DRY, YES, confirms=True), "skip"), "back")

    summary = press(press(back, "keep"), "no")

    assert "✓ Dry run Yes" in board(summary).text
    assert "✗" not in board(summary).text


def test_a_form_says_which_card_it_is_for() -> None:
    which, begins = "Call 3 of 8 · run_command · 839aaa1f7083", "command: rm -r build"
    dialogue = a_dialogue(NAME, which=which, begins=begins)

    for shown in (board(dialogue), prompt(dialogue), board(over(dialogue, "Too late."))):
        assert f"\n{which}\n{begins}" in shown.text


def test_back_offers_to_keep_what_was_said() -> None:
    back = press(typed(a_dialogue(NAME, YES), "Bob", "1"), "back")

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
    dialogue = a_dialogue(replace(field, initial=initial))

    assert label in labels(dialogue)
    assert press(dialogue, "keep").values == {field.name: raw}


def test_a_long_text_to_begin_with_stands_on_the_board_to_be_copied() -> None:
    text = '{\n  "command": "@all"\n}'
    dialogue = a_dialogue(replace(NAME, initial=text))

    assert f"So far:\n{text}" in board(dialogue).text
    assert {entity.type for entity in board(dialogue).entities} == {
        "bold",
        "code",
        "text_mention",
        "pre",
    }
    assert labels(dialogue)[0] == "Keep it as it is"
    assert press(dialogue, "keep").values == {"name": text}


def test_options_are_picked_and_taken_back_and_picking_twice_picks_once() -> None:
    dialogue = a_dialogue(TAGS)
    picked = press(press(press(dialogue, "pick", 5), "pick", 5), "pick", 2)

    assert asking(picked).picked == ["2", "5"]
    assert picked.visit == dialogue.visit
    assert {"✓ tag 2", "✓ tag 5", "tag 3", "Done (2)"} <= set(labels(picked))
    assert asking(press(picked, "unpick", 2)).picked == ["5"]
    assert press(picked, "done").values == {"tags": ["2", "5"]}


def test_many_options_stand_on_pages() -> None:
    first = a_dialogue(TAGS)
    last = press(first, "page", 4)

    assert "1/5" in labels(first)
    assert "tag 99" in labels(last)
    assert len(labels(last)) == 20 + 3 + 1 + 1
    assert asking(press(last, "pick", 99)).page == 4
    assert "5/5" in labels(press(first, "page", 77))


def test_ready_made_answers_are_buttons_and_anything_else_can_be_typed() -> None:
    dialogue = a_dialogue(WHY)

    assert labels(dialogue) == ["Too risky", "Not now", "Cancel"]
    assert press(dialogue, "suggest", 1).values == {"why": "Not now"}
    assert typed(dialogue, "because", "1").values == {"why": "because"}


def test_what_a_button_cannot_show_stands_on_the_board_in_full() -> None:
    long = "Only after the backup of the production database was tried out and found to work"
    dialogue = a_dialogue(replace(WHY, suggestions=("No", long)))

    assert f"2. {long}" in board(dialogue).text
    assert labels(dialogue)[1].endswith("…")


def test_what_is_over_keeps_no_values_and_has_no_buttons() -> None:
    ended = over(typed(a_dialogue(NAME, YES), "a secret", "1"), "Too late.")

    assert labels(ended) == []
    assert "Too late." in board(ended).text
    assert "a secret" not in board(ended).text


@pytest.mark.parametrize("field", [NAME, COUNT, DAY, FormField("long", "💩" * 100)])
def test_the_placeholder_fits_telegrams_limit(field: FormField) -> None:
    placeholder = force_reply(view.prompt(a_dialogue(field))).input_field_placeholder

    assert placeholder
    assert 1 <= units(placeholder) <= 64


def test_the_fullest_form_fits_a_message() -> None:
    wide = "💩" * 100
    fields = tuple(FormField(f"f{number}", wide, hint=wide * 9) for number in range(MOST_FIELDS))
    dialogue = a_dialogue(
        *fields, note=wide * 9, confirms=True, which=wide, begins=wide[:80], falls_back="deny"
    )
    for number in range(MOST_FIELDS):
        assert units(board(dialogue).text) <= 4096
        assert len(board(dialogue).entities) <= 100
        dialogue = typed(dialogue, "💩" * 2_000, str(number))

    assert dialogue.field is None
    assert units(board(dialogue).text) <= 4096
    assert units(board(stumbled(dialogue, {"f0": wide * 99})).text) <= 4096


def test_the_longest_options_below_all_answers_fit_a_message() -> None:
    options = tuple(Option("💩" * 500, number) for number in range(100))
    wide = "💩" * 100
    before = tuple(FormField(f"f{number}", "💩" * 100) for number in range(MOST_FIELDS - 1))
    dialogue = a_dialogue(*before, replace(TAGS, options=options), which=wide, begins=wide)
    for number in range(MOST_FIELDS - 1):
        dialogue = typed(dialogue, "💩" * 2_000, str(number))

    shown = board(dialogue)
    assert units(shown.text) <= 4096
    assert units(shown.without_entities) <= 4096
    assert len(shown.entities) <= 100


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Alice", "Alice"), ("", "user 4242"), ("a\u202eb\nc", "a⟨U+202E⟩b⏎c"), (" ", "user 4242")],
)
def test_a_name_is_shown_on_one_line_without_tricks(name: str, shown: str) -> None:
    assert shown_name(name, 4242) == shown


def test_a_long_name_is_cut() -> None:
    assert units(shown_name("💩" * 64, 1)) <= 48


def test_a_wrong_answer_is_told_why_on_the_board_and_where_it_is_asked_again() -> None:
    again = typed(typed(a_dialogue(NAME, COUNT), "Bob", "1"), "many", "2")

    assert "a whole number" in board(again).text
    assert "a whole number" in prompt(again).text


def test_only_what_can_be_pressed_has_a_button() -> None:
    assert labels(a_dialogue(NAME, YES)) == ["Cancel"]
    assert labels(a_dialogue(NOTE)) == ["Skip", "Cancel"]
    assert "Leave it out" in labels(a_dialogue(WHY, NAME, falls_back="deny"))
