"""A modal as it is filled in: the state of its inputs, and what Slack itself insists on."""

import re
from collections.abc import Mapping
from typing import Any

from sayso_playground.slack.elements import number_of
from sayso_playground.slack.state import Json, interactive_elements

HELD_BACK = "Slack does not send the form: it is not filled in"
"""The error of a delivery that Slack's own client did not make."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.", re.ASCII)
_REQUIRED = "Please complete this required field."
_NAMES = {
    "checkboxes": "selected_options",
    "datepicker": "selected_date",
    "datetimepicker": "selected_date_time",
    "email_text_input": "value",
    "multi_static_select": "selected_options",
    "number_input": "value",
    "plain_text_input": "value",
    "radio_buttons": "selected_option",
    "static_select": "selected_option",
    "url_text_input": "value",
}
_INITIAL = {
    "value": "initial_value",
    "selected_date": "initial_date",
    "selected_date_time": "initial_date_time",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
}


def option_of(element: Json, wanted: Any) -> Json:
    """The option with this value or with these words on it.

    Raises:
        LookupError: there is none.
    """
    for option in element["options"]:
        if wanted in (option["value"], option["text"]["text"]):
            return dict(option)
    raise LookupError(f"no option {wanted!r} in {element['action_id']!r}")


def form_state(blocks: list[Json], values: Mapping[str, Any]) -> Json:
    """The values of all inputs as ``view.state.values`` has them.

    ``values`` are by block_id, by action_id or by label; an option is its
    value or its words. An input that is not named keeps what it began with,
    and an empty one is ``null``, or a list without anything in it.

    Raises:
        LookupError: a value was given for no input, or for one of several.
    """
    inputs = [(b, e) for b, e in interactive_elements(blocks) if e["type"] in _NAMES]
    labels = {b["block_id"]: b["label"]["text"] for b in blocks if b["type"] == "input"}
    named: dict[str, list[str]] = {}
    for block_id, element in inputs:
        for name in {block_id, element["action_id"], labels.get(block_id, block_id)}:
            named.setdefault(name, []).append(block_id)
    given: dict[str, Any] = {}
    for name, value in values.items():
        if len(found := named.get(name, [])) != 1:
            many = "more than one" if found else "no"
            raise LookupError(f"{many} input {name!r} in the form; inputs are {sorted(named)}")
        given[found[0]] = value
    state: Json = {}
    for block_id, element in inputs:
        entry = _entry(element, block_id in given, given.get(block_id))
        state.setdefault(block_id, {})[element["action_id"]] = entry
    return state


def complaints(blocks: list[Json], state: Json) -> dict[str, str]:
    """Return the complaints of Slack's client before it sends inputs, by block_id."""
    found: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        value = state[block["block_id"]][element["action_id"]][_NAMES[element["type"]]]
        if value in (None, [], ""):
            problem = None if block.get("optional") else _REQUIRED
        else:
            problem = _complaint(element, value)
        if problem:
            found[block["block_id"]] = problem
    return found


def _entry(element: Json, is_given: bool, value: Any) -> Json:
    name = _NAMES[element["type"]]
    if not is_given:
        value = element.get(_INITIAL[name])
    elif name == "selected_option" and value:
        value = option_of(element, value)
    elif name == "selected_date_time" and value:
        value = int(value)
    elif name == "selected_options":
        value = [option_of(element, item) for item in value or ()]
    # Lists are never null in a payload (slackapi/bolt-js, pull request 879).
    return {"type": element["type"], name: value or ([] if name == "selected_options" else None)}


def _complaint(element: Json, value: Any) -> str | None:
    if element["type"] == "plain_text_input":
        least, most = element.get("min_length", 0), element.get("max_length", 3000)
        if len(value) < least:
            return f"Please enter at least {least} characters."
        return f"Please enter at most {most} characters." if len(value) > most else None
    if element["type"] == "email_text_input":
        return None if "@" in value.strip("@ ") else "Please enter a valid email address."
    if element["type"] == "url_text_input":
        return None if _SCHEME.match(value) else "Please enter a valid URL."
    if element["type"] == "multi_static_select":
        most = element.get("max_selected_items", 100)
        return f"Please choose at most {most}." if len(value) > most else None
    return _number_complaint(element, value) if element["type"] == "number_input" else None


def _number_complaint(element: Json, value: Any) -> str | None:
    number = number_of(value)
    if number is None:
        return "Please enter a number."
    if not element["is_decimal_allowed"] and number != number.to_integral_value():
        return "Please enter a whole number."
    low, high = number_of(element.get("min_value")), number_of(element.get("max_value"))
    if low is not None and number < low:
        return f"Please enter a number of at least {low}."
    if high is not None and number > high:
        return f"Please enter a number of at most {high}."
    return None
