"""Interactive elements of Block Kit: buttons, menus and inputs, as strict as Slack."""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from sayso_playground.slack.shapes import (
    Findings,
    Json,
    check_choice,
    check_flag,
    check_items,
    check_object,
    check_string,
    check_text,
)

_STYLES = ("primary", "danger")
_ID = 255  # docs.slack.dev, block kit: action_id and block_id at most 255 characters


def check_element(element: Any, path: str, found: Findings, allowed: tuple[str, ...]) -> None:
    """An element of one of the allowed types; its own limits too."""
    if not isinstance(element, dict):
        found.add("must be an object", path)
        return
    kind = element.get("type")
    if kind not in allowed or kind not in _CHECKS:
        found.add(f"unsupported type: {kind}", f"{path}/type")
        return
    _CHECKS[kind](element, path, found)
    check_string(element, "action_id", path, found, _ID)
    _check_confirm(element, path, found)


def _check_button(button: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, button: text 75, value 2000, url 3000, accessibility_label 75."""
    optional = ("action_id", "url", "value", "style", "confirm", "accessibility_label")
    check_object(button, path, found, ("text",), optional)
    check_text(button, "text", path, found, 75)
    check_string(button, "value", path, found, 2000, least=0)
    check_string(button, "url", path, found, 3000)
    check_string(button, "accessibility_label", path, found, 75)
    check_choice(button, "style", path, found, _STYLES)


def _check_confirm(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, confirmation dialog: title 100, text 300, confirm and deny 30."""
    if "confirm" not in element:
        return
    confirm, place = element["confirm"], f"{path}/confirm"
    if not check_object(confirm, place, found, ("title", "text", "confirm", "deny"), ("style",)):
        return
    for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
        check_text(confirm, name, place, found, most)
    check_choice(confirm, "style", place, found, _STYLES)


def _check_overflow(menu: Json, path: str, found: Findings) -> None:
    check_object(menu, path, found, ("options",), ("action_id", "confirm"))
    check_options(menu, path, found, 5)


def _check_image(image: Json, path: str, found: Findings) -> None:
    check_object(image, path, found, ("image_url", "alt_text"), ())
    check_string(image, "image_url", path, found, 3000)
    check_string(image, "alt_text", path, found, 2000)


_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)
_NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_PLAIN = ("plain_text",)
_TEXTS = ("plain_text", "mrkdwn")


def number_of(text: Any) -> Decimal | None:
    """The number that a person may type, None for anything else."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def check_options(
    element: Json, path: str, found: Findings, most: int, texts: tuple[str, ...] = _PLAIN
) -> None:
    """docs.slack.dev, option: text 75, value 150, description 75; markup in buttons only."""
    options = check_items(element, "options", path, found, most)
    for number, option in enumerate(options):
        place = f"{path}/options/{number}"
        if check_object(option, place, found, ("text", "value"), ("description", "url")):
            check_text(option, "text", place, found, 75, texts)
            check_string(option, "value", place, found, 150)
            check_text(option, "description", place, found, 75, texts)
    values = [option.get("value") for option in options if isinstance(option, dict)]
    if len({str(value) for value in values}) != len(values):
        found.add("option values must be unique", f"{path}/options")


def _check_static_select(menu: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, select menu: 100 options, placeholder 150."""
    optional = ("action_id", "placeholder", "initial_option", "confirm", "focus_on_load")
    check_object(menu, path, found, ("options",), optional)
    check_text(menu, "placeholder", path, found, 150)
    check_options(menu, path, found, 100)
    _check_initial_option(menu, path, found)


def _check_multi_static_select(menu: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, multi-select menu: 100 options, max_selected_items at least 1."""
    optional = (
        "action_id",
        "placeholder",
        "initial_options",
        "max_selected_items",
        "confirm",
        "focus_on_load",
    )
    check_object(menu, path, found, ("options",), optional)
    check_text(menu, "placeholder", path, found, 150)
    check_options(menu, path, found, 100)
    _check_initial_options(menu, path, found)
    most = menu.get("max_selected_items", 1)
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        found.add("must be at least 1", f"{path}/max_selected_items")
    elif "max_selected_items" in menu and len(menu.get("initial_options") or ()) > most:
        found.add("no more than max_selected_items allowed", f"{path}/initial_options")


def _check_radio_buttons(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, radio buttons: 10 options."""
    optional = ("action_id", "initial_option", "confirm", "focus_on_load")
    check_object(element, path, found, ("options",), optional)
    check_options(element, path, found, 10, _TEXTS)
    _check_initial_option(element, path, found)


def _check_checkboxes(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, checkboxes: 10 options."""
    optional = ("action_id", "initial_options", "confirm", "focus_on_load")
    check_object(element, path, found, ("options",), optional)
    check_options(element, path, found, 10, _TEXTS)
    _check_initial_options(element, path, found)


def _check_plain_text_input(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, plain-text input: min_length 0 to 3,000, max_length 1 to 3,000."""
    optional = (
        "action_id",
        "initial_value",
        "multiline",
        "min_length",
        "max_length",
        "dispatch_action_config",
        "focus_on_load",
        "placeholder",
    )
    check_object(element, path, found, (), optional)
    check_text(element, "placeholder", path, found, 150)
    check_flag(element, "multiline", path, found)
    check_string(element, "initial_value", path, found, 3000, least=0)
    for name, least in (("min_length", 0), ("max_length", 1)):
        value = element.get(name, least)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 3000:
            found.add(f"must be between {least} and 3000", f"{path}/{name}")
            return
    if element.get("min_length", 0) > element.get("max_length", 3000):
        found.add("must be less than or equal to max_length", f"{path}/min_length")
    if len(str(element.get("initial_value", ""))) > element.get("max_length", 3000):
        found.add("must be less than max_length", f"{path}/initial_value")


def _check_number_input(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, number input: is_decimal_allowed is required, all numbers are strings."""
    numbers = ("min_value", "max_value", "initial_value")
    optional = (*numbers, "action_id", "dispatch_action_config", "focus_on_load", "placeholder")
    check_object(element, path, found, ("is_decimal_allowed",), optional)
    check_text(element, "placeholder", path, found, 150)
    check_flag(element, "is_decimal_allowed", path, found)
    values: dict[str, Decimal] = {}
    for name in numbers:
        if name not in element:
            continue
        number = number_of(element[name])
        if number is None:
            found.add("must be a number in a string", f"{path}/{name}")
        elif not element.get("is_decimal_allowed") and number != number.to_integral_value():
            found.add("must be a whole number", f"{path}/{name}")
        else:
            values[name] = number
    low, high = values.get("min_value"), values.get("max_value")
    initial = values.get("initial_value")
    if low is not None and high is not None and low > high:
        found.add("cannot be greater than max_value", f"{path}/min_value")
    outside = (low is not None and initial is not None and initial < low) or (
        high is not None and initial is not None and initial > high
    )
    if outside:
        found.add("must be between min_value and max_value", f"{path}/initial_value")


def _check_datepicker(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, date picker: initial_date is YYYY-MM-DD."""
    optional = ("action_id", "initial_date", "confirm", "focus_on_load", "placeholder")
    check_object(element, path, found, (), optional)
    check_text(element, "placeholder", path, found, 150)
    date = element.get("initial_date", "2000-01-01")
    if not isinstance(date, str) or not _DATE.fullmatch(date):
        found.add("must be a valid date: YYYY-MM-DD", f"{path}/initial_date")


def _check_datetimepicker(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, datetime picker: initial_date_time is seconds since 1970, of 10 digits."""
    check_object(
        element, path, found, (), ("action_id", "initial_date_time", "confirm", "focus_on_load")
    )
    at = element.get("initial_date_time", 1_000_000_000)
    if type(at) is not int or len(str(at)) != 10 or at < 0:
        found.add("must be a UNIX timestamp of 10 digits", f"{path}/initial_date_time")


def _check_address_input(element: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, email input and URL input: a placeholder and a value to begin with."""
    optional = ("action_id", "initial_value", "dispatch_action_config", "focus_on_load")
    check_object(element, path, found, (), (*optional, "placeholder"))
    check_text(element, "placeholder", path, found, 150)
    check_string(element, "initial_value", path, found, 3000)


def _check_initial_option(element: Json, path: str, found: Findings) -> None:
    options = element.get("options")
    if "initial_option" in element and element["initial_option"] not in _listed(options):
        found.add("must exactly match one of the options", f"{path}/initial_option")


def _check_initial_options(element: Json, path: str, found: Findings) -> None:
    options = _listed(element.get("options"))
    picked = check_items(element, "initial_options", path, found, len(options))
    for number, option in enumerate(picked):
        if option not in options or option in picked[:number]:
            place = f"{path}/initial_options/{number}"
            found.add("must exactly match one of the options, once", place)


def _listed(options: Any) -> list[Any]:
    return options if isinstance(options, list) else []


INPUT_CHECKS: dict[str, Callable[[Json, str, Findings], None]] = {
    "checkboxes": _check_checkboxes,
    "datepicker": _check_datepicker,
    "datetimepicker": _check_datetimepicker,
    "email_text_input": _check_address_input,
    "multi_static_select": _check_multi_static_select,
    "number_input": _check_number_input,
    "plain_text_input": _check_plain_text_input,
    "radio_buttons": _check_radio_buttons,
    "static_select": _check_static_select,
    "url_text_input": _check_address_input,
}
"""One check for each element that an input block may hold."""


_CHECKS: dict[str, Callable[[Json, str, Findings], None]] = {
    "button": _check_button,
    "overflow": _check_overflow,
    "image": _check_image,
    **INPUT_CHECKS,
}
