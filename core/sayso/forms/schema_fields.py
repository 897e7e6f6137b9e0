"""One value of a JSON Schema as one field of a form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Any

from pydantic import Field, TypeAdapter
from pydantic_core import SchemaError as PatternError

from sayso.errors import SchemaError
from sayso.forms.form import LONGEST_TEXT, MOST_OPTIONS, FieldKind, FormField, Option, number_text
from sayso.forms.schema_nodes import Node, Resolved, only, pointer, resolved
from sayso.forms.schema_patterns import as_rust
from sayso.forms.values import raw_input, same
from sayso.forms.words import FormWords
from sayso.text.agents import from_agent
from sayso.text.secrets import redacted_text
from sayso.text.visible import looks, shortened, visible

LABEL_LIMIT = 100
HINT_LIMIT = 500
OPTION_LABEL_LIMIT = 100
"""A bound of our own: what is longer is a text to read, and not a label to choose by."""

_MULTILINE_FROM = 200
_MOST = 10**15
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


class Null(Enum):
    """A null that was chosen, which is not the same as nothing chosen."""

    NULL = None


NULL = Null.NULL


def field_of(
    root: Node, found: Resolved, name: str, label: str, words: FormWords, *, required: bool
) -> FormField:
    """The field that asks for a value of the schema.

    Raises:
        SchemaError: it cannot be asked in chat.
    """
    node, at = found.node, found.at
    how: Mapping[str, Any]
    if "enum" in node or "const" in node:
        how = {"kind": "option", "options": _options(node, at, words)}
    else:
        kind = node.get("type")
        make = {
            "string": _text,
            "integer": _integer,
            "number": _number,
            "boolean": _boolean,
        }.get(kind if isinstance(kind, str) else "")
        if kind == "array":
            how = _several(root, node, at, words)
        elif make is None:
            raise SchemaError(at, _unaskable(kind))
        else:
            how = make(node, at)
    try:
        field = FormField(name, label, required=required, hint=_hint(found), **how)
        initial = None if found.notes.get("default") is None else found.notes["default"]
        return _beginning_with(field, initial, how)
    except ValueError as error:
        raise SchemaError(at, str(error)) from None


def label_of(name: str, notes: Mapping[str, Any]) -> str:
    """The words for a property: its title, or its name."""
    title = notes.get("title")
    words = title if isinstance(title, str) and title.strip() else name
    return shortened(from_agent(words, one_line=True), LABEL_LIMIT)


def _beginning_with(field: FormField, initial: Any, how: Mapping[str, Any]) -> FormField:
    """The field with its schema's default to begin with, if that is a value of it."""
    try:
        value = field.read(raw_input(field, initial)) if initial is not None else None
    except ValueError:
        return field
    if value is None:
        return field
    return FormField(
        field.name, field.label, required=field.required, hint=field.hint, initial=value, **how
    )


def _hint(found: Resolved) -> str:
    description = found.notes.get("description")
    words = description if isinstance(description, str) else ""
    return shortened(from_agent(words), HINT_LIMIT)


def _text(node: Node, at: str) -> Mapping[str, Any]:
    if "format" in node:
        if node["format"] != "date":
            raise SchemaError(
                pointer(at, "format"),
                f"the format {node['format']!r:.40} cannot be checked: use date or a pattern",
            )
        only(node, {"type", "format"}, at, "a date")
        return {"kind": "date"}
    only(node, {"type", "minLength", "maxLength", "pattern"}, at, "a text")
    least, most = _count(node, "minLength", at), _count(node, "maxLength", at)
    _satisfiable(least, LONGEST_TEXT if most is None else min(most, LONGEST_TEXT), at)
    return {
        "kind": "text",
        "minimum": least,
        "maximum": most,
        "multiline": (most or 0) > _MULTILINE_FROM,
        "pattern": _pattern(node, at),
        "written_pattern": node.get("pattern", ""),
    }


def _pattern(node: Node, at: str) -> str:
    pattern = node.get("pattern", "")
    if not isinstance(pattern, str):
        raise SchemaError(pointer(at, "pattern"), "a pattern must be a string")
    try:
        rust = as_rust(pattern)
        TypeAdapter(Annotated[str, Field(pattern=rust)])
    except PatternError:
        raise SchemaError(pointer(at, "pattern"), "this pattern is not understood") from None
    except ValueError as error:
        raise SchemaError(pointer(at, "pattern"), str(error)) from None
    return rust


def _boolean(node: Node, at: str) -> Mapping[str, Any]:
    only(node, {"type"}, at, "a boolean")
    return {"kind": "boolean"}


def _integer(node: Node, at: str) -> Mapping[str, Any]:
    only(node, {"type", *_NUMBERS}, at, "an integer")
    bounds = {word: _bound(node, word, at) for word in _NUMBERS}
    least = _largest(
        (bounds["minimum"], math.ceil), (bounds["exclusiveMinimum"], lambda x: math.floor(x) + 1)
    )
    most = _largest(
        (bounds["maximum"], lambda x: -math.floor(x)),
        (bounds["exclusiveMaximum"], lambda x: 1 - math.ceil(x)),
    )
    return _between("integer", least, None if most is None else -most, at)


def _number(node: Node, at: str) -> Mapping[str, Any]:
    only(node, {"type", *_NUMBERS}, at, "a number")
    bounds = {word: _bound(node, word, at) for word in _NUMBERS}
    least = _largest((bounds["minimum"], _float_from), (bounds["exclusiveMinimum"], _float_over))
    most = _largest(
        (bounds["maximum"], lambda x: _float_from(-x)),
        (bounds["exclusiveMaximum"], lambda x: _float_over(-x)),
    )
    return _between("number", least, None if most is None else -most, at)


def _between(
    kind: FieldKind, least: float | None, most: float | None, at: str
) -> Mapping[str, Any]:
    _satisfiable(least, most, at)
    return {"kind": kind, "minimum": least, "maximum": most}


def _bound(node: Node, word: str, at: str) -> float | None:
    bound = node.get(word)
    if bound is None and word not in node:
        return None
    if isinstance(bound, bool) or not isinstance(bound, int | float) or abs(bound) > 1e300:
        raise SchemaError(pointer(at, word), "a bound is a number, and not larger than 1e300")
    return bound


def _largest(*bounds: tuple[float | None, Any]) -> float | None:
    return max((make(bound) for bound, make in bounds if bound is not None), default=None)


def _float_from(bound: float) -> float:
    """The smallest float that is not below the bound, which may be an integer of any length."""
    near = float(bound)
    return near if near >= bound else math.nextafter(near, math.inf)


def _float_over(bound: float) -> float:
    near = _float_from(bound)
    return near if near > bound else math.nextafter(near, math.inf)


def _several(root: Node, node: Node, at: str, words: FormWords) -> Mapping[str, Any]:
    only(node, {"type", "items", "minItems", "maxItems", "uniqueItems"}, at, "an array")
    items = resolved(root, node.get("items", True), pointer(at, "items"))
    kind = items.node.get("type")
    if "enum" not in items.node and "const" not in items.node:
        what = "free texts" if kind == "string" else f"{_kind(kind)}s"
        raise SchemaError(items.at, f"an array of {what} cannot be asked in chat: use an enum")
    if items.nullable:
        raise SchemaError(
            items.at, "an array with nulls cannot be asked in chat: add it to the enum"
        )
    if not isinstance(node.get("uniqueItems", False), bool):
        raise SchemaError(pointer(at, "uniqueItems"), "this is true or false")
    options = _options(items.node, items.at, words)
    least, most = _count(node, "minItems", at), _count(node, "maxItems", at)
    _satisfiable(least, min(len(options), len(options) if most is None else most), at)
    return {"kind": "options", "options": options, "minimum": least, "maximum": most}


def _options(node: Node, at: str, words: FormWords) -> tuple[Option, ...]:
    only(node, {"type", "enum", "const"}, at, "a choice")
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
    return tuple(
        Option(label, NULL if value is None else value)
        for label, value in zip(_labels(values, pointer(at, word), words), values, strict=True)
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


def _count(node: Node, word: str, at: str) -> int | None:
    count = node.get(word)
    if count is None and word not in node:
        return None
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST:
        raise SchemaError(pointer(at, word), "this is a whole number, 0 or more")
    return count


def _satisfiable(least: float | None, most: float | None, at: str) -> None:
    if least is not None and most is not None and least > most:
        raise SchemaError(
            at, f"no value fits: at least {number_text(least)} and at most {number_text(most)}"
        )


def _unaskable(kind: Any) -> str:
    if kind is None:
        return "a schema without a type cannot be asked in chat: add a type or an enum"
    return f"{_kind(kind)} cannot be asked in chat here"


def _kind(kind: Any) -> str:
    return kind if isinstance(kind, str) else "value"
