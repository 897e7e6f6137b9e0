"""What a modal of the Slack double may be made of."""

from __future__ import annotations

from typing import Any

import pytest
from playground.listener import a_modal
from playground.modals import ALL_KINDS, MANY, THREE, asking, option, plain, several

from sayso_playground.slack.blocks import check_view

TAKEN = {
    "all kinds": ALL_KINDS,
    "100 options": asking("static_select", options=MANY),
    "a number with its bounds": asking(
        "number_input", is_decimal_allowed=True, min_value="-1.5", max_value="2", initial_value="0"
    ),
    "markup on a radio button": asking(
        "radio_buttons", options=[{"text": {"type": "mrkdwn", "text": "*x*"}, "value": "x"}]
    ),
}

REFUSED = {
    "101 options": (asking("static_select", options=[*MANY, option("x")]), "no more than 100"),
    "11 radio buttons": (asking("radio_buttons", options=MANY[:11]), "no more than 10"),
    "11 checkboxes": (asking("checkboxes", options=MANY[:11]), "no more than 10"),
    "no options": (asking("radio_buttons", options=[]), "no less than 1"),
    "options that are missing": (asking("checkboxes"), "missing required field: options"),
    "an option twice": (asking("radio_buttons", options=[THREE[0], THREE[0]]), "unique"),
    "a long option": (asking("static_select", options=[option("x", "x" * 76)]), "less than 76"),
    "a long value": (asking("static_select", options=[option("x" * 151, "x")]), "less than 151"),
    "markup in a menu": (
        asking("static_select", options=[{"text": {"type": "mrkdwn", "text": "x"}, "value": "x"}]),
        "unsupported type: mrkdwn",
    ),
    "an initial option of its own": (
        asking("radio_buttons", options=THREE, initial_option=option("red", "Rot")),
        "exactly match one of the options",
    ),
    "an initial option that is none": (
        asking("static_select", options=THREE, initial_option=None),
        "exactly match one of the options",
    ),
    "initial options of their own": (
        asking("checkboxes", options=THREE, initial_options=[option("pink")]),
        "exactly match one of the options",
    ),
    "an initial option twice": (
        asking("checkboxes", options=THREE, initial_options=[THREE[0], THREE[0]]),
        "once",
    ),
    "no initial options": (
        asking("multi_static_select", options=THREE, initial_options=[]),
        "no less than 1",
    ),
    "nothing to select": (
        asking("multi_static_select", options=THREE, max_selected_items=0),
        "at least 1",
    ),
    "more selected than may be": (
        asking("multi_static_select", options=THREE, initial_options=THREE, max_selected_items=2),
        "max_selected_items",
    ),
    "initial_option for several": (
        asking("checkboxes", options=THREE, initial_option=THREE[0]),
        "additional property: initial_option",
    ),
    "a number without decimals said": (asking("number_input"), "is_decimal_allowed"),
    "a number that is no string": (
        asking("number_input", is_decimal_allowed=True, min_value=1),
        "number in a string",
    ),
    "a number with an exponent": (
        asking("number_input", is_decimal_allowed=True, initial_value="1e5"),
        "number in a string",
    ),
    "half of a whole number": (
        asking("number_input", is_decimal_allowed=False, min_value="0.5"),
        "whole number",
    ),
    "bounds that cross": (
        asking("number_input", is_decimal_allowed=False, min_value="2", max_value="1"),
        "cannot be greater",
    ),
    "a number out of bounds": (
        asking("number_input", is_decimal_allowed=False, min_value="2", initial_value="1"),
        "between min_value and max_value",
    ),
    "another date": (asking("datepicker", initial_date="21.11.2026"), "YYYY-MM-DD"),
    "lengths that cross": (
        asking("plain_text_input", min_length=3, max_length=2),
        "less than or equal to max_length",
    ),
    "a length of true": (asking("plain_text_input", max_length=True), "between 1 and 3000"),
    "a text longer than it may be": (
        asking("plain_text_input", max_length=2, initial_value="xyz"),
        "less than max_length",
    ),
    "3001 characters": (asking("plain_text_input", initial_value="x" * 3_001), "less than 3001"),
    "two of one name": (
        several(("a", {"type": "datepicker"}, True), ("a", {"type": "datepicker"}, True)),
        "block_id already exists",
    ),
    "focus on two": (
        several(
            ("a", {"type": "datepicker", "focus_on_load": True}, True),
            ("b", {"type": "datepicker", "focus_on_load": True}, True),
        ),
        "focus_on_load",
    ),
    "a button as an input": (asking("button", text=plain("x")), "unsupported type: button"),
    "101 blocks": (a_modal(blocks=[{"type": "divider"}] * 101), "no more than 100"),
    "a long title": (a_modal(title=plain("x" * 25)), "less than 25"),
    "much metadata": (a_modal(private_metadata="x" * 3_001), "less than 3001"),
}


@pytest.mark.parametrize("view", TAKEN.values(), ids=TAKEN.keys())
def test_a_form_within_the_rules_is_taken(view: dict[str, Any]) -> None:
    assert not check_view(view).errors


@pytest.mark.parametrize(("view", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_a_form_that_breaks_a_rule_is_refused(view: dict[str, Any], complaint: str) -> None:
    assert any(complaint in error for error in check_view(view).errors)
