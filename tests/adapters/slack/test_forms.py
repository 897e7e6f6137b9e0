"""A form as a dialog: an input for each kind of field, within all of Slack's limits."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.slack_forms import CITIES, COLOURS, ORDER, a_form, a_view
from support.slack_kit import Payload

from sayso.errors import DeliveryError
from sayso.forms.form import LONGEST_OPTION, Form, FormField, Option
from sayso_playground.slack.blocks import check_view


def inputs(view: Payload) -> dict[str, Payload]:
    """The input blocks by the names of their fields; ready-made answers by ``or:name``."""
    found: dict[str, Payload] = {}
    for block in view["blocks"]:
        if block["type"] == "input":
            found[block["block_id"].removeprefix("sayso:").removeprefix("in:")] = block
    return found


def the_input(**how: Any) -> Payload:
    return inputs(a_view(a_form(FormField("it", "It", **how))))["it"]


def element(**how: Any) -> Payload:
    found: Payload = the_input(**how)["element"]
    return found


def words(view: Payload) -> str:
    return json.dumps(view, ensure_ascii=False)


def test_a_form_of_all_kinds_is_a_dialog_that_slack_takes() -> None:
    view = a_view()

    kinds = {name: block["element"]["type"] for name, block in inputs(view).items()}
    assert not check_view(view).errors
    assert kinds == {
        "name": "plain_text_input",
        "notes": "plain_text_input",
        "or:why": "radio_buttons",
        "why": "plain_text_input",
        "count": "number_input",
        "weight": "number_input",
        "express": "radio_buttons",
        "gift": "radio_buttons",
        "colour": "radio_buttons",
        "city": "static_select",
        "extras": "checkboxes",
        "stops": "multi_static_select",
        "day": "datepicker",
    }
    assert (view["title"]["text"], view["submit"]["text"]) == ("Order", "Order")
    assert "Please look twice." in words(view)
    assert "deploy-bot › researcher asks: bash" in words(view)


@pytest.mark.parametrize(
    ("how", "hint"),
    [
        ({"required": False, "initial": "x"}, "Left empty, it is removed."),
        ({"required": False, "initial": "x", "hint": "h"}, "h Left empty, it is removed."),
        ({"required": False, "initial": False, "kind": "boolean"}, "Left empty, it is removed."),
    ],
)
def test_what_is_removed_when_it_is_left_empty_says_so(how: Any, hint: str) -> None:
    assert the_input(**how)["hint"]["text"] == hint


@pytest.mark.parametrize("how", [{"required": False}, {"initial": "x"}])
def test_what_cannot_be_removed_says_nothing_of_it(how: Any) -> None:
    assert "hint" not in the_input(**how)


@pytest.mark.parametrize("required", [True, False])
def test_only_optional_fields_may_stay_empty(required: bool) -> None:
    for kind in ("text", "number", "boolean", "date"):
        assert the_input(kind=kind, required=required)["optional"] is not required


def test_a_text_has_its_lengths_and_begins_with_what_it_has() -> None:
    assert element(minimum=2, maximum=20, initial="Bob") == {
        "action_id": "sayso:value",
        "type": "plain_text_input",
        "multiline": False,
        "min_length": 2,
        "max_length": 20,
        "initial_value": "Bob",
    }
    assert element()["max_length"] == 3_000
    assert element(maximum=9_000)["max_length"] == 3_000
    assert element(multiline=True)["multiline"] is True


def test_a_text_of_several_lines_keeps_them() -> None:
    assert element(initial="a\nb")["multiline"] is True


def test_a_text_to_be_shortened_can_be_shown_at_all() -> None:
    shown = element(maximum=3, initial="abcdef")

    assert (shown["initial_value"], shown["max_length"]) == ("abcdef", 3_000)


@pytest.mark.parametrize(
    ("kind", "how", "low", "high", "initial"),
    [
        ("integer", {"minimum": 1, "maximum": 9, "initial": 3}, "1", "9", "3"),
        ("integer", {"minimum": 0.5, "maximum": 2.5}, "1", "2", None),
        ("integer", {"initial": 10**18}, None, None, "1000000000000000000"),
        ("number", {"minimum": 0.1, "maximum": 1e21}, "0.1", "1000000000000000000000", None),
        ("number", {"initial": 1e-7}, None, None, "0.0000001"),
        ("number", {"initial": -2.5}, None, None, "-2.5"),
        ("number", {"minimum": float("-inf"), "initial": float("nan")}, None, None, None),
        ("integer", {"minimum": 5, "initial": 1}, "5", None, None),
        ("integer", {"initial": 1.5}, None, None, None),
    ],
)
def test_numbers_are_strings_without_exponents(
    kind: str, how: Payload, low: str | None, high: str | None, initial: str | None
) -> None:
    shown = element(kind=kind, **how)

    assert shown["is_decimal_allowed"] is (kind == "number")
    assert shown.get("min_value") == low
    assert shown.get("max_value") == high
    assert shown.get("initial_value") == initial


def test_yes_and_no_begin_with_what_was_and_may_stay_open() -> None:
    assert element(kind="boolean", initial=True)["initial_option"]["value"] == "true"
    assert element(kind="boolean", initial=False)["initial_option"]["value"] == "false"
    assert "initial_option" not in element(kind="boolean", required=False)


def test_an_option_is_its_position() -> None:
    shown = element(kind="option", options=COLOURS, initial="green")

    assert [option["value"] for option in shown["options"]] == ["0", "1", "2"]
    assert shown["initial_option"] == shown["options"][1]


def test_a_value_that_only_looks_like_an_option_is_none() -> None:
    numbers = (Option("One", 1), Option("Yes", True))

    assert element(kind="option", options=numbers, initial=True)["initial_option"]["value"] == "1"
    assert "initial_option" not in element(kind="option", options=numbers, initial=1.0)
    assert "initial_option" not in element(kind="option", options=(Option("None", None),))


def test_several_options_begin_with_those_that_were_chosen_and_know_how_many() -> None:
    few = element(kind="options", options=COLOURS, initial=["blue", "red"])
    many = element(kind="options", options=CITIES, maximum=2, initial=[3])

    assert [option["value"] for option in few["initial_options"]] == ["0", "2"]
    assert [option["value"] for option in many["initial_options"]] == ["2"]
    assert many["max_selected_items"] == 2


def test_long_options_are_numbered_and_stand_in_full_above() -> None:
    long = tuple(Option(f"{'x' * 100} ends in {end}", end) for end in "ab")
    view = a_view(a_form(FormField("it", "It", "option", options=long)))

    labels = [option["text"]["text"] for option in inputs(view)["it"]["element"]["options"]]
    assert [label[:4] for label in labels] == ["1. x", "2. x"]
    assert all(len(label) == 75 for label in labels)
    assert f"1. {'x' * 100} ends in a" in words(view)
    assert f"2. {'x' * 100} ends in b" in words(view)


def test_ready_made_answers_stand_beside_a_text_and_one_of_both_is_enough() -> None:
    blocks = inputs(a_view())

    assert [o["value"] for o in blocks["or:why"]["element"]["options"]] == [
        "Too risky",
        "Not today",
        "R%26D %3Csaid%3E 100%2526",
    ]
    assert blocks["or:why"]["optional"]
    assert blocks["why"]["optional"]
    assert blocks["why"]["hint"]["text"].startswith("One of the two is needed.")


def test_ready_made_answers_that_an_option_cuts_stand_in_full_above() -> None:
    view = a_view(a_form(FormField("it", "It", suggestions=("No", "z" * 140))))

    options = inputs(view)["or:it"]["element"]["options"]
    assert [option["value"] for option in options] == ["No", "z" * 140]
    assert [option["text"]["text"][:4] for option in options] == ["1. N", "2. z"]
    assert f"2. {'z' * 140}" in words(view)
    assert not check_view(view).errors


def test_more_ready_made_answers_than_a_menu_holds_are_there_to_be_copied() -> None:
    suggestions = tuple(f"Reason {number}" for number in range(102))

    view = a_view(a_form(FormField("it", "It", suggestions=suggestions)))

    assert len(inputs(view)["or:it"]["element"]["options"]) == 100
    assert "Also suggested, to be copied:\\nReason 100\\nReason 101" in words(view)


@pytest.mark.parametrize("length", [1, 1_900, 1_950, 2_000, 2_001, 9_000])
def test_a_hint_is_there_in_full_beside_ready_made_answers_too(length: int) -> None:
    view = a_view(a_form(FormField("it", "It", hint="h" * length, suggestions=("No",))))

    assert words(view).count("h" * min(length, 2_900)) >= 1
    assert "counts instead" in inputs(view)["it"]["hint"]["text"]
    assert not check_view(view).errors


def test_many_ready_made_answers_are_a_menu_and_long_ones_are_there_to_be_copied() -> None:
    long = "y" * 151
    suggestions = (*(f"Reason {number}" for number in range(11)), long, "Reason 1")
    view = a_view(a_form(FormField("it", "It", suggestions=suggestions)))

    menu = inputs(view)["or:it"]["element"]
    assert (menu["type"], len(menu["options"])) == ("static_select", 11)
    assert long in words(view)
    assert not check_view(view).errors


def test_long_texts_are_shown_in_full() -> None:
    form = a_form(
        FormField("it", "It", hint="h" * 2_500),
        title="A title that is too long for Slack's head of a dialog",
        note="n" * 7_000,
        submit="A button that says a lot more",
    )
    view = a_view(form)

    assert not check_view(view).errors
    assert "h" * 2_500 in words(view)
    assert form.title in words(view)
    assert words(view).count("n" * 1_200) == 5  # two chunks of 2,900 characters, one of 1,200
    assert len(view["submit"]["text"]) == 24


def test_what_is_invisible_is_spelled_out_in_a_dialog() -> None:
    option = Option("gpj\u202eexe", 1)
    form = a_form(
        FormField("it", "L\u202e", "option", hint="h\u202e", options=(option,)), note="n\u202e"
    )

    assert "\u202e" not in words(a_view(form))
    assert words(a_view(form)).count("⟨U+202E⟩") == 4


def test_a_text_to_edit_is_exactly_itself() -> None:
    assert element(initial='{"a": "\u202e"}')["initial_value"] == '{"a": "\u202e"}'


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (FormField("it", "It", initial="x" * 3_001), "“It”: its text has 3,001 characters"),
        (FormField("it", "It", initial="\ud800"), "half of a surrogate pair"),
        (FormField("&" * 100, "It"), "name is too long"),
        (FormField("it", "It", minimum=3_001), "both its minimum and its maximum length"),
        (FormField("it", "It", minimum=3, maximum=2), "both its minimum and its maximum length"),
        (FormField("it", "It", maximum=0), "both its minimum and its maximum length"),
        (
            FormField("it", "It", "integer", minimum=1.2, maximum=1.8),
            "both its minimum and its maximum",
        ),
        (FormField("it", "It", "number", minimum=2, maximum=1), "both its minimum and its maximum"),
    ],
)
def test_what_no_answer_could_satisfy_is_refused_with_the_reason(
    field: FormField, reason: str
) -> None:
    with pytest.raises(DeliveryError, match=reason) as caught:
        a_view(a_form(field))

    assert caught.value.permanent


def test_a_form_with_more_than_a_dialog_holds_is_refused_with_the_numbers() -> None:
    long = tuple(Option(f"{number} {'x' * 200}", number) for number in range(100))
    fields = tuple(FormField(f"f{n}", "F", "options", options=long) for n in range(20))

    with pytest.raises(DeliveryError, match=r"too large for a Slack dialog: .* blocks of at most"):
        a_view(a_form(*fields))


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["<!channel>", "\u202e" * 90, "\ud800", "x" * 3_500, "&" * 400, "\n\n", " "]),
)
LABELS = HOSTILE.map(lambda text: text[:100] or "x")
OF_OPTIONS = HOSTILE.map(lambda text: text[:LONGEST_OPTION])
BOUNDS = st.one_of(st.none(), st.integers(-5, 4_000), st.floats(-1e30, 1e30))


@st.composite
def fields(draw: st.DrawFn) -> FormField:
    kind = draw(
        st.sampled_from(
            ["text", "integer", "number", "boolean", "option", "options", "date", "email", "url"]
        )
    )
    options = st.lists(
        st.builds(Option, OF_OPTIONS, st.integers(0, 5)),
        min_size=1,
        max_size=100,
    )
    chooses = kind in ("option", "options")
    return FormField(
        draw(st.text("ab/ü&%\n", min_size=1, max_size=100)),
        draw(LABELS),
        kind,  # type: ignore[arg-type]
        draw(st.booleans()),
        draw(HOSTILE),
        tuple(draw(options)) if chooses else (),
        tuple(draw(st.lists(HOSTILE, max_size=12))) if kind == "text" else (),
        draw(
            st.one_of(st.none(), HOSTILE, st.integers(), st.floats(), st.lists(st.integers(0, 5)))
        ),
        draw(st.booleans()),
        draw(BOUNDS),
        draw(BOUNDS),
    )


@settings(max_examples=examples(150), database=None)
@given(st.lists(fields(), min_size=1, max_size=6, unique_by=lambda f: f.name), HOSTILE, HOSTILE)
def test_whatever_a_form_holds_slack_takes_it_or_it_is_refused(
    asked: list[FormField], title: str, note: str
) -> None:
    with suppress(DeliveryError):
        view = a_view(Form(title, tuple(asked), note=note))

        assert not check_view(view).errors
        json.dumps(view, ensure_ascii=False).encode()


def test_the_form_of_the_tests_is_complete() -> None:
    kinds = {field.kind for field in ORDER.fields}

    assert kinds == {"text", "integer", "number", "boolean", "option", "options", "date"}


@pytest.mark.parametrize("kind", ["option", "options"])
def test_a_menu_holds_a_hundred_options_and_no_more(kind: Any) -> None:
    options = tuple(Option(f"City {number}", number) for number in range(101))

    assert len(element(kind=kind, options=options[:100])["options"]) == 100
    with pytest.raises(DeliveryError, match="it has 101 options, over 100") as caught:
        element(kind=kind, options=options)
    assert caught.value.permanent
