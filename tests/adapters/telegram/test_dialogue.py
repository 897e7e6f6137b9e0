"""The dialogue without a network: what each answer leads to, and how it looks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sayso.forms.form import MOST_FIELDS, Form, FormField, Option
from sayso_telegram.card.formatted import units
from sayso_telegram.forms.dialogue import Dialogue, dialogue_text, portable, read_dialogue
from sayso_telegram.forms.moves import begun, over, pressed, stumbled, typed
from sayso_telegram.forms.view import board, board_keyboard, force_reply, prompt, shown_name
from sayso_telegram.reading.form_buttons import FormButton, form_button_data, read_form_button

ID = "DIALOGUEDIALOGUE123456"
NAME = FormField("name", "Name")
YES_TOO = FormField("too", "And?", "boolean")
NOTE = FormField("note", "Note", required=False)
YES = FormField("yes", "Really?", "boolean")
SIZE = FormField("size", "Size", "option", options=(Option("S", 1), Option("L", 2)))
TAGS = FormField(
    "tags", "Tags", "options", options=tuple(Option(f"tag {n}", n) for n in range(100)), maximum=2
)
COUNT = FormField("count", "Count", "integer", minimum=1)
DAY = FormField("day", "Day", "date")
WHY = FormField("why", "Why", suggestions=("Too risky", "Not now"))


def a_dialogue(*fields: FormField, **changes: Any) -> Dialogue:
    """At its first question; a change of the form is named after what it is."""
    of_form = {name: changes.pop(name) for name in list(changes) if name in ("confirms", "note")}
    form, initial = portable(Form("A form", fields, **of_form))
    dialogue = Dialogue(
        dialogue_id=ID,
        user_id=4242,
        name="Alice",
        chat_id=-100,
        thread_id=None,
        card_id=7,
        handle="HANDLEHANDLEHANDLE1234",
        choice="fill",
        label="Fill in…",
        confirmed=False,
        falls_back="",
        expires_at=0.0,
        form=form,
        initial=initial,
    )
    return begun(replace(dialogue, **changes))


def press(dialogue: Dialogue, word: Any, number: int = 0) -> Dialogue:
    moved = pressed(dialogue, FormButton(ID, dialogue.visit, word, number))
    assert moved is not None
    return moved


def labels(dialogue: Dialogue) -> list[str]:
    keyboard = board_keyboard(dialogue)
    return [button.text for row in keyboard.inline_keyboard for button in row] if keyboard else []


def test_one_field_is_all_there_is_to_answer() -> None:
    sent = typed(a_dialogue(NAME, confirms=True), "Bob", 1)

    assert (sent.ready, sent.values) == (True, {"name": "Bob"})


def test_fields_are_asked_one_after_the_other() -> None:
    first = a_dialogue(NAME, YES, COUNT)
    second = typed(first, "Bob", 1)
    third = press(second, "no")
    sent = typed(third, " 3 ", 2)

    assert [d.field.name for d in (first, second, third) if d.field] == ["name", "yes", "count"]
    assert (sent.ready, sent.values) == (True, {"name": "Bob", "yes": "false", "count": "3"})


def test_a_form_that_confirms_shows_all_answers_before_it_is_sent() -> None:
    summary = press(typed(a_dialogue(NAME, YES, confirms=True), "Bob", 1), "yes")

    assert not summary.ready
    assert labels(summary) == ["Send", "« Back", "Cancel"]
    assert "✓ Name Bob\n✓ Really? Yes" in board(summary).text
    assert press(summary, "send").ready
    assert press(press(summary, "back"), "no").values["yes"] == "false"


@pytest.mark.parametrize(
    ("field", "text", "why"),
    [
        (COUNT, "many", "a whole number"),
        (COUNT, "0", "at least 1"),
        (DAY, "tomorrow", "a date, such as 2026-11-21"),
        (FormField("n", "N", "number"), "inf", "a finite number"),
        (FormField("p", "P", pattern="^[a-z]+$"), "A1", "matches"),
    ],
)
def test_a_wrong_answer_is_told_why_and_asked_again(field: FormField, text: str, why: str) -> None:
    before = typed(a_dialogue(NAME, field), "Bob", 1)
    again = typed(before, text, 2)

    assert again.field == before.field
    assert why in again.problem
    assert why in board(again).text
    assert why in prompt(again).text
    assert again.values == {"name": "Bob"}
    assert again.visit == before.visit + 1


def test_only_optional_fields_can_be_skipped() -> None:
    assert "Skip" not in labels(a_dialogue(NAME))
    assert pressed(a_dialogue(NAME), FormButton(ID, 1, "skip")) is None
    skipped = press(a_dialogue(NOTE, YES), "skip")
    assert skipped.field is not None
    assert skipped.field.name == "yes"


DRY = FormField("dry", "Dry run", "boolean", required=False, initial=True)
SEEN = FormField("seen", "Seen", "options", options=SIZE.options, required=False, initial=[2])


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


def test_skipping_takes_an_earlier_answer_back() -> None:
    back = press(typed(a_dialogue(NOTE, YES), "x", 1), "back")

    assert press(back, "skip").values == {}


def test_back_offers_to_keep_what_was_said() -> None:
    back = press(typed(a_dialogue(NAME, YES), "Bob", 1), "back")

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


def test_several_options_begin_with_what_they_begin_with() -> None:
    assert a_dialogue(replace(TAGS, initial=[3, 7])).picked == ["3", "7"]


@pytest.mark.parametrize("initial", [True, 9, "S", ["S"]])
def test_what_is_none_of_the_options_cannot_be_kept(initial: Any) -> None:
    assert a_dialogue(replace(SIZE, initial=initial)).initial == {}


def test_options_are_picked_and_taken_back_and_picking_twice_picks_once() -> None:
    dialogue = a_dialogue(TAGS)
    picked = press(press(press(dialogue, "pick", 5), "pick", 5), "pick", 2)

    assert picked.picked == ["2", "5"]
    assert picked.visit == dialogue.visit
    assert {"✓ tag 2", "✓ tag 5", "tag 3", "Done (2)"} <= set(labels(picked))
    assert press(picked, "unpick", 2).picked == ["5"]
    assert press(picked, "done").values == {"tags": ["2", "5"]}


def test_too_many_options_are_told_and_stay_picked() -> None:
    picked = a_dialogue(TAGS)
    for number in (1, 2, 3):
        picked = press(picked, "pick", number)
    assert "at most 2 of the options" in press(picked, "done").problem
    assert "an answer is needed" in press(a_dialogue(TAGS), "done").problem


def test_many_options_stand_on_pages() -> None:
    first = a_dialogue(TAGS)
    last = press(first, "page", 4)

    assert "1/5" in labels(first)
    assert "tag 99" in labels(last)
    assert len(labels(last)) == 20 + 3 + 1 + 1
    assert press(last, "pick", 99).page == 4
    assert "5/5" in labels(press(first, "page", 77))


def test_ready_made_answers_are_buttons_and_anything_else_can_be_typed() -> None:
    dialogue = a_dialogue(WHY)

    assert labels(dialogue) == ["Too risky", "Not now", "Cancel"]
    assert press(dialogue, "suggest", 1).values == {"why": "Not now"}
    assert typed(dialogue, "because", 1).values == {"why": "because"}


def test_what_a_button_cannot_show_stands_on_the_board_in_full() -> None:
    long = "Only after the backup of the production database was tried out and found to work"
    dialogue = a_dialogue(replace(WHY, suggestions=("No", long)))

    assert f"2. {long}" in board(dialogue).text
    assert labels(dialogue)[1].endswith("…")


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
    assert "« Back" not in labels(a_dialogue(NAME, YES))
    assert pressed(a_dialogue(NAME, YES), FormButton(ID, 1, "back")) is None


def test_a_button_of_an_earlier_visit_does_nothing() -> None:
    dialogue = a_dialogue(YES, YES_TOO)

    assert pressed(press(dialogue, "yes"), FormButton(ID, dialogue.visit, "no")) is None


def test_after_a_refusal_only_what_does_not_fit_is_asked_again() -> None:
    sent = typed(press(typed(a_dialogue(NAME, YES, COUNT), "Bob", 1), "yes"), "3", 2)
    first = stumbled(sent, {"count": "too many", "name": "nobody"})
    second = typed(first, "Eve", 3)
    again = typed(second, "2", 4)

    assert (first.field, first.problem) == (sent.form.fields[0], "nobody")
    assert second.field == sent.form.fields[2]
    assert (again.ready, again.values) == (True, {"name": "Eve", "yes": "true", "count": "2"})


def test_a_problem_of_no_field_is_told_at_the_last_one() -> None:
    sent = typed(typed(a_dialogue(NAME, COUNT), "Bob", 1), "3", 2)
    again = stumbled(sent, {"": "these do not go together"})

    assert (again.at, again.problem) == (1, "these do not go together")


def test_words_for_what_counts_anyway_can_be_left_out() -> None:
    dialogue = a_dialogue(WHY, NAME, falls_back="deny")
    left_out = press(press(dialogue, "suggest", 1), "cancel")

    assert "Leave it out" in labels(dialogue)
    assert (left_out.ready, left_out.left_out, left_out.values) == (True, True, {})
    assert press(a_dialogue(NAME), "cancel").ended == "Cancelled: nothing was decided."


def test_what_is_over_keeps_no_values_and_has_no_buttons() -> None:
    ended = over(typed(a_dialogue(NAME, YES), "a secret", 1), "Too late.")

    assert labels(ended) == []
    assert "Too late." in board(ended).text
    assert "a secret" not in dialogue_text(ended)


def test_a_dialogue_is_kept_as_text_and_read_again() -> None:
    dialogue = press(typed(a_dialogue(NAME, TAGS, COUNT, note="Look."), "Bob 💩", 9), "pick", 4)

    assert read_dialogue(dialogue_text(dialogue)) == dialogue


@pytest.mark.parametrize("text", ["", "{}", "[]", "7", '{"dialogue_id": 1}'])
def test_what_another_version_kept_is_no_dialogue(text: str) -> None:
    assert read_dialogue(text) is None


def test_an_options_value_can_be_anything() -> None:
    field = replace(SIZE, options=(Option("object", {"a": object()}), Option("set", {1})))

    assert read_dialogue(dialogue_text(a_dialogue(field))) is not None


@pytest.mark.parametrize("field", [NAME, COUNT, DAY, FormField("long", "💩" * 100)])
def test_the_placeholder_fits_telegrams_limit(field: FormField) -> None:
    placeholder = force_reply(a_dialogue(field)).input_field_placeholder

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
        dialogue = typed(dialogue, "💩" * 2_000, number)

    assert dialogue.field is None
    assert units(board(dialogue).text) <= 4096
    assert units(board(stumbled(dialogue, {"f0": wide * 99})).text) <= 4096


def test_the_longest_options_below_all_answers_fit_a_message() -> None:
    options = tuple(Option("💩" * 500, number) for number in range(100))
    wide = "💩" * 100
    before = tuple(FormField(f"f{number}", "💩" * 100) for number in range(MOST_FIELDS - 1))
    dialogue = a_dialogue(*before, replace(TAGS, options=options), which=wide, begins=wide)
    for number in range(MOST_FIELDS - 1):
        dialogue = typed(dialogue, "💩" * 2_000, number)

    shown = board(dialogue)
    assert units(shown.text) <= 4096
    assert units(shown.without_entities) <= 4096
    assert len(shown.entities) <= 100


def test_every_button_fits_telegrams_64_bytes() -> None:
    data = form_button_data(FormButton("x" * 22, 99_999, "suggest", 999))

    assert len(data.encode()) <= 64


@pytest.mark.parametrize(
    "data",
    [
        "",
        "f1:short:1:yes:0",
        f"f1:{ID}:1:decide:0",
        f"f1:{ID}:-1:yes:0",
        f"f1:{ID}:1:yes:1000",
        f"f1:{ID}:1:yes:0\n",
        f"f2:{ID}:1:yes:0",
        f"f1:{ID}:１:yes:0",
        f"p1:{ID}:allow",
    ],
)
def test_other_callback_data_is_no_forms_button(data: str) -> None:
    assert read_form_button(data) is None


def test_a_button_that_could_not_be_read_is_not_made() -> None:
    with pytest.raises(ValueError, match="a handle, a count"):
        form_button_data(FormButton("short", 1, "yes"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Alice", "Alice"), ("", "user 4242"), ("a\u202eb\nc", "a⟨U+202E⟩b⏎c"), (" ", "user 4242")],
)
def test_a_name_is_shown_on_one_line_without_tricks(name: str, shown: str) -> None:
    assert shown_name(name, 4242) == shown


def test_a_long_name_is_cut() -> None:
    assert units(shown_name("💩" * 64, 1)) <= 48
