"""The values of an enum or of constants in a JSON Schema, as the options of a field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from typing import Any

from sayso.errors import SchemaError
from sayso.forms.form import MOST_OPTIONS, Option
from sayso.forms.schema_nodes import Node, Resolved, only, pointer
from sayso.forms.values import same
from sayso.forms.words import FormWords
from sayso.text.secrets import redacted_text
from sayso.text.visible import looks, visible

OPTION_LABEL_LIMIT = 100
"""A bound of our own: what is longer is a text to read, and not a label to choose by."""


class Null(Enum):
    """A null that was chosen, which is not the same as nothing chosen."""

    NULL = None


NULL = Null.NULL


def options_of(found: Resolved, words: FormWords) -> tuple[Option, ...]:
    """The values that a schema lets choose from, with the words for each.

    Raises:
        SchemaError: they cannot be told apart, or asked at all.
    """
    if found.constants:
        return _constants(found, words)
    node, at = found.node, found.at
    only(node, {"type", "enum", "const", "enumNames"}, at, "a choice")
    word = "enum" if "enum" in node else "const"
    values = node["enum"] if "enum" in node else [node["const"]]
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_OPTIONS:
        raise SchemaError(pointer(at, word), f"an enum has 1 to {MOST_OPTIONS} values")
    if "enum" in node and "const" in node:
        raise SchemaError(pointer(at, "const"), "an enum or a const, not both")
    kinds = node.get("type")
    for number, value in enumerate(values):
        place = pointer(at, word, number) if word == "enum" else pointer(at, word)
        if isinstance(value, list | dict):
            raise SchemaError(place, "an option must be a string, a number, true, false or null")
        if any(same(value, other) for other in values[:number]):
            raise SchemaError(place, "this value appears twice in the enum")
        if "type" in node and not _is_of(value, kinds if isinstance(kinds, list) else [kinds]):
            raise SchemaError(place, "this value is not of the type of its schema")
    labels = _labels(_names(node, len(values), at) or values, pointer(at, word), words)
    return _options(labels, values)


def _names(node: Node, needed: int, at: str) -> list[str]:
    """The names of the values of an enum, as earlier versions of MCP give them."""
    names = node.get("enumNames", [])
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not is_list or len(names) not in (0, needed):
        raise SchemaError(pointer(at, "enumNames"), "this is a list with a name for each value")
    return list(names)


def _constants(found: Resolved, words: FormWords) -> tuple[Option, ...]:
    """A choice of constants, each called by its title, or else what it is."""
    if len(found.constants) > MOST_OPTIONS:
        raise SchemaError(found.at, f"a choice has 1 to {MOST_OPTIONS} values")
    of_type = {"type": found.node["type"]} if "type" in found.node else {}
    values: list[Any] = []
    said: list[Any] = []
    for number, constant in enumerate(found.constants):
        place, value = pointer(found.at, number), constant["const"]
        # Each has to fit the type that it names, and the one named for all of them.
        for node in ({**constant, **of_type}, constant):
            options_of(Resolved(node, place), words)
        if any(same(value, other) for other in values):
            raise SchemaError(place, "this value appears twice")
        title = constant.get("title")
        said.append(title if isinstance(title, str) and title.strip() else value)
        values.append(value)
    return _options(_labels(said, found.at, words), values)


def _options(labels: Sequence[str], values: Sequence[Any]) -> tuple[Option, ...]:
    return tuple(
        Option(label, NULL if value is None else value)
        for label, value in zip(labels, values, strict=True)
    )


def _labels(values: Sequence[Any], at: str, words: FormWords) -> list[str]:
    labels = [
        visible(redacted_text(value), one_line=True)
        if isinstance(value, str)
        else _told(value, words)
        for value in values
    ]
    others = {_told(value, words) for value in values if not isinstance(value, str)}
    for number, value in enumerate(values):
        # "1" beside 1 is quoted, and so is what would be no words at all or a button's.
        if isinstance(value, str) and (
            not labels[number].strip()
            or labels[number] in others
            or _is_a_step(labels[number], words)
        ):
            labels[number] = f'"{labels[number]}"'
    seen: set[str] = set()
    for number, label in enumerate(labels):
        if len(label) > OPTION_LABEL_LIMIT:
            raise SchemaError(
                pointer(at, number), f"an option has at most {OPTION_LABEL_LIMIT} characters"
            )
        if looks(label) in seen:
            raise SchemaError(pointer(at, number), "this option looks like another one")
        seen.add(looks(label))
    return labels


def _is_a_step(label: str, words: FormWords) -> bool:
    """Whether it passes for one of the buttons beside the options: « Back, Done (2)."""
    shown = looks(label).strip("«‹<← ").partition(" (")[0].partition(":")[0]
    return shown in map(looks, words.steps)


def _told(value: Any, words: FormWords) -> str:
    return words.none if value is None else json.dumps(value)


def _is_of(value: Any, kinds: Sequence[Any]) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "number": number,
        "integer": number and (isinstance(value, int) or value.is_integer()),
    }
    return any(fits.get(kind, False) for kind in kinds if isinstance(kind, str))
