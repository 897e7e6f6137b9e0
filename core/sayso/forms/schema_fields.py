"""One value of a JSON Schema as one field of a form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, TypeAdapter
from pydantic_core import SchemaError as PatternError

from sayso.errors import SchemaError
from sayso.forms.form import LONGEST_TEXT, MOST_ITEMS, FieldKind, FormField, number_text
from sayso.forms.schema_nodes import Node, Resolved, only, pointer, resolved
from sayso.forms.schema_options import options_of
from sayso.forms.schema_patterns import as_rust
from sayso.forms.values import raw_input, same
from sayso.forms.words import FormWords
from sayso.text.agents import from_agent
from sayso.text.visible import shortened, with_few_marks

LABEL_LIMIT = 100
HINT_LIMIT = 500

_MULTILINE_FROM = 200
_MOST = 10**15
_FORMATS: Mapping[str, FieldKind] = {
    "date": "date",
    "date-time": "datetime",
    "email": "email",
    "uri": "url",
}
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def field_of(
    root: Node, found: Resolved, name: str, label: str, words: FormWords, *, required: bool
) -> FormField:
    """The field that asks for a value of the schema.

    Raises:
        SchemaError: it cannot be asked in chat.
    """
    node, at = found.node, found.at
    how: Mapping[str, Any]
    if found.is_chosen:
        how = {"kind": "option", "options": options_of(found, words)}
    elif found.variants:
        raise SchemaError(at, "a choice of objects cannot be asked in chat here")
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
        return beginning_with(field, initial)
    except ValueError as error:
        raise SchemaError(at, str(error)) from None


def label_of(name: str, notes: Mapping[str, Any]) -> str:
    """The words for a property: its title, or its name."""
    title = notes.get("title")
    words = title if isinstance(title, str) and title.strip() else name
    return shortened(from_agent(words, one_line=True), LABEL_LIMIT)


def beginning_with(field: FormField, initial: Any) -> FormField:
    """The field with its schema's default to begin with, if that is a value of it."""
    try:
        value = field.read(raw_input(field, initial)) if initial is not None else None
    except ValueError:
        return field
    if value is None:
        return field
    begun = replace(field, initial=value)
    return begun if begins_faithfully(begun) else field


def begins_faithfully(field: FormField) -> bool:
    """Whether what the field begins with is seen, and stays the same where nobody touches it."""
    text = field.lines if field.kind == "list" else field.initial
    if isinstance(text, str) and with_few_marks(text) != text:
        return False
    if field.kind != "list" or field.initial is None:
        return True
    try:
        return same(field.read(field.lines), field.initial)
    except ValueError:
        return False


def _hint(found: Resolved) -> str:
    description = found.notes.get("description")
    words = description if isinstance(description, str) else ""
    return shortened(from_agent(words), HINT_LIMIT)


def _text(node: Node, at: str) -> Mapping[str, Any]:
    kind = _format(node["format"], at) if "format" in node else "text"
    if kind in ("date", "datetime"):
        only(node, {"type", "format"}, at, f"a {node['format']}")
        return {"kind": kind}
    only(node, {"type", "format", "minLength", "maxLength", "pattern"}, at, "a text")
    least, most = count_of(node, "minLength", at), count_of(node, "maxLength", at)
    _satisfiable(least, LONGEST_TEXT if most is None else min(most, LONGEST_TEXT), at)
    return {
        "kind": kind,
        "minimum": least,
        "maximum": most,
        "multiline": kind == "text" and (most or 0) > _MULTILINE_FROM,
        "pattern": _pattern(node, at),
        "written_pattern": node.get("pattern", ""),
    }


def _format(name: Any, at: str) -> FieldKind:
    if isinstance(name, str) and name in _FORMATS:
        return _FORMATS[name]
    known = ", ".join(_FORMATS)
    raise SchemaError(
        pointer(at, "format"),
        f"the format {name!r:.40} cannot be checked: use {known} or a pattern",
    )


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


def is_distinct(node: Node, at: str) -> bool:
    """Whether no item of an array may come twice.

    Raises:
        SchemaError: it does not say so with true or false.
    """
    distinct = node.get("uniqueItems", False)
    if not isinstance(distinct, bool):
        raise SchemaError(pointer(at, "uniqueItems"), "this is true or false")
    return distinct


def _several(root: Node, node: Node, at: str, words: FormWords) -> Mapping[str, Any]:
    only(node, {"type", "items", "minItems", "maxItems", "uniqueItems"}, at, "an array")
    items = resolved(root, node.get("items", True), pointer(at, "items"))
    kind = items.node.get("type")
    distinct = is_distinct(node, at)
    if items.nullable:
        raise SchemaError(
            items.at, "an array with nulls cannot be asked in chat: add it to the enum"
        )
    least, most = count_of(node, "minItems", at), count_of(node, "maxItems", at)
    if not items.is_chosen:
        if kind not in ("string", "integer", "number"):
            raise SchemaError(items.at, f"an array of {_kind(kind)}s cannot be asked in chat here")
        _satisfiable(least, MOST_ITEMS if most is None else min(most, MOST_ITEMS), at)
        # What an item begins with says nothing of the list.
        item = field_of(root, Resolved(items.node, items.at), "item", "Item", words, required=True)
        how = {"kind": "list", "item": item, "minimum": least, "maximum": most}
        return {**how, "distinct": distinct}
    options = options_of(items, words)
    _satisfiable(least, min(len(options), len(options) if most is None else most), at)
    return {"kind": "options", "options": options, "minimum": least, "maximum": most}


def count_of(node: Node, word: str, at: str) -> int | None:
    """A count that the schema bounds something with; None where it does not.

    Raises:
        SchemaError: it is no whole number.
    """
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
