"""Modals for the tests of the Slack double: one input, several, and one of every kind."""

from typing import Any

from playground.listener import a_modal


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def option(value: str, text: str | None = None) -> dict[str, Any]:
    return {"text": plain(text or value.title()), "value": value}


THREE = [option("red"), option("green"), option("blue")]
MANY = [option(f"v{number}") for number in range(100)]


def asking(kind: str, **fields: Any) -> dict[str, Any]:
    """A modal with one input of this kind."""
    element = {"type": kind, "action_id": "value", **fields}
    block = {"type": "input", "block_id": "it", "label": plain("It"), "element": element}
    return a_modal(blocks=[block])


def several(*blocks: tuple[str, dict[str, Any], bool]) -> dict[str, Any]:
    """A modal with several inputs: block_id (the label too), element, optional."""
    return a_modal(
        blocks=[
            {
                "type": "input",
                "block_id": name,
                "label": plain(name.title()),
                "element": {"action_id": "value", **element},
                "optional": optional,
            }
            for name, element, optional in blocks
        ]
    )


ALL_KINDS = several(
    ("name", {"type": "plain_text_input", "min_length": 2, "max_length": 5}, False),
    ("notes", {"type": "plain_text_input", "initial_value": "as before"}, True),
    (
        "count",
        {"type": "number_input", "is_decimal_allowed": False, "min_value": "1", "max_value": "9"},
        True,
    ),
    ("weight", {"type": "number_input", "is_decimal_allowed": True}, True),
    ("colour", {"type": "radio_buttons", "options": THREE}, True),
    ("size", {"type": "static_select", "options": MANY, "initial_option": MANY[7]}, True),
    ("extras", {"type": "checkboxes", "options": THREE, "initial_options": THREE[:2]}, True),
    ("stops", {"type": "multi_static_select", "options": MANY, "max_selected_items": 2}, True),
    ("day", {"type": "datepicker", "initial_date": "2026-11-21"}, True),
)
