"""Interactive elements of Block Kit: buttons, menus and inputs, as strict as Slack."""

from collections.abc import Callable
from typing import Any

from sayso_playground.slack.inputs import INPUT_CHECKS, check_options
from sayso_playground.slack.shapes import (
    Findings,
    Json,
    check_choice,
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


_CHECKS: dict[str, Callable[[Json, str, Findings], None]] = {
    "button": _check_button,
    "overflow": _check_overflow,
    "image": _check_image,
    **INPUT_CHECKS,
}
