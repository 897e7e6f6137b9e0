"""One property of a JSON Schema as a field: a flat one, or one of JSON text."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from gettext import NullTranslations
from typing import Any

from sayso.errors import SchemaError
from sayso.forms.form import LONGEST_TEXT, MOST_ITEMS, FieldKind, FormField, number_text
from sayso.forms.form_values import is_same_json
from sayso.forms.json_text import find_target, format_json
from sayso.forms.schema_options import build_options
from sayso.text.agents import from_agent
from sayso.text.visible import shortened, with_few_marks

Node = Mapping[str, Any]

_LABEL_LIMIT = 100
_HINT_LIMIT = 500
_MULTILINE_FROM = 200
_MAX_REFERENCES = 20
_MAX_DEPTH = 6
_MAX_COUNT = 10**15

_FORMATS: Mapping[str, FieldKind] = {
    "date": "date",
    "date-time": "datetime",
    "email": "email",
    "uri": "url",
}
# Words that assert nothing. Those beginning with x- assert nothing either.
_NOTES = {"$comment", "$defs", "default", "definitions", "deprecated", "description", "examples"}
_NOTES |= {"readOnly", "title", "writeOnly"}
# Words that a field checks itself, by the type of the values.
_CHECKED: Mapping[str, set[str]] = {
    "string": {"type", "minLength", "maxLength"},
    "integer": {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "number": {"type", "minimum", "maximum"},
    "boolean": {"type"},
    "array": {"type", "items", "minItems", "maxItems", "uniqueItems"},
    "choice": {"type", "enum", "const", "enumNames", "oneOf", "anyOf"},
}


class _NotFlatError(Exception):
    """No flat field can ask for values of the schema."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A schema behind its references and its ``or null``.

    ``notes`` are its title, description and default; the one nearest to the property counts.
    """

    node: Node
    nullable: bool
    notes: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The type of the values, or ``choice`` where they are listed."""
        if {"enum", "const", "oneOf", "anyOf"} & self.node.keys():
            return "choice"
        kind = self.node.get("type")
        return kind if isinstance(kind, str) else ""


def resolve(root: Node, node: Any) -> Resolved | None:
    """Follow the references and the ``or null`` of a schema; None where fields cannot say it."""
    notes: dict[str, Any] = {}
    noted: tuple[str, ...] = ("title", "description", "default")
    nullable = False
    for _ in range(_MAX_REFERENCES):
        if not isinstance(node, dict):
            return None
        notes = {word: node[word] for word in noted if word in node} | notes
        word = next((word for word in ("$ref", "anyOf", "oneOf") if word in node), "")
        if not word:
            return _with_one_type(node, nullable, notes)
        if word == "$ref":
            noted = ("description", "default")  # the title of a definition is that of a type
            others = [_find_definition(root, node[word])]
        else:
            members = node[word] if isinstance(node[word], list) else []
            others = [one for one in members if one != {"type": "null"}]
            has_null = len(others) < len(members)
            nullable = nullable or has_null
            if _are_constants(others, but_null=has_null):
                return Resolved({**node, word: others}, nullable, notes)
            if word == "oneOf" and has_null and not all(map(_excludes_null, others)):
                return None
        if len(others) != 1 or unknown_words(node, {word}):
            return None
        node = others[0]
    return None


def build_field(
    root: Node, node: Any, at: str, name: str, translations: NullTranslations, *, required: bool
) -> tuple[FormField, bool]:
    """Build the field that asks for a property, and say whether the property may be null.

    Raises:
        SchemaError: the schema of the property cannot be used, or no value fits it.
    """
    found = resolve(root, node)
    notes = found.notes if found else node if isinstance(node, dict) else {}
    hint = _read_note(notes, "description")
    try:
        how = _flat(root, found, at, translations)
    except _NotFlatError:
        how = json_field(root, found.node if found else node, at)
        example = json.dumps(build_example(root, node), ensure_ascii=False)
        hint = "\n".join(
            filter(
                None,
                (hint, translations.gettext("JSON, such as {example}").format(example=example)),
            )
        )
    nullable = found is not None and found.nullable
    is_optional = nullable or (how["kind"] in ("options", "list") and not how["minimum"])
    label = shortened(from_agent(_read_note(notes, "title") or name, one_line=True), _LABEL_LIMIT)
    hint = shortened(from_agent(hint), _HINT_LIMIT)
    try:
        made = FormField(name, label, required=required and not is_optional, hint=hint, **how)
        made.check_usable()
    except SchemaError as error:
        raise SchemaError(f"{at}{error.pointer}", error.reason) from None
    except ValueError as error:
        raise SchemaError(at, str(error)) from None
    return prefill(made, notes.get("default")) or made, nullable


def prefill(asked: FormField, value: Any) -> FormField | None:
    """Return the field with a value to begin with; None where it cannot show it as it is."""
    if value is None:
        return replace(asked, initial=None)
    try:
        read = asked.read(asked.to_raw(value))
        begun = replace(asked, initial=format_json(value) if asked.kind == "json" else read)
        text = begun.lines if asked.kind == "list" else begun.initial
        if isinstance(text, str) and (with_few_marks(text) != text or len(text) > LONGEST_TEXT):
            return None
        is_kept = asked.kind != "list" or is_same_json(asked.read(text), read)
    except ValueError:
        return None
    return begun if is_kept else None


def json_field(root: Node, node: Any, at: str) -> dict[str, Any]:
    """Return the kind and the schema of a field of JSON text."""
    if isinstance(node, bool):
        node = {} if node else {"not": {}}
    if not isinstance(node, dict):
        raise SchemaError(at, "a schema is an object, true or false")
    return {"kind": "json", "schema": _schema_text(root, node), "multiline": True}


def build_example(root: Node, node: Any, depth: int = 0) -> Any:
    """Build data of the shape that the schema describes."""
    if not isinstance(node, dict) or depth > _MAX_DEPTH:
        return "…"
    if "$ref" in node:
        return build_example(root, _find_definition(root, node["$ref"]), depth + 1)
    if "const" in node:
        return node["const"]
    for word in ("enum", "anyOf", "oneOf", "allOf"):
        if isinstance(node.get(word), list) and node[word]:
            first = node[word][0]
            return first if word == "enum" else build_example(root, first, depth + 1)
    kind = node.get("type")
    if kind == "object" and isinstance(node.get("properties"), dict):
        inner = node["properties"].items()
        return {name: build_example(root, schema, depth + 1) for name, schema in inner}
    if kind == "array":
        return [build_example(root, node.get("items"), depth + 1)]
    examples = {"integer": 1, "number": 1.5, "boolean": True, "object": {}}
    return examples.get(kind, "…") if isinstance(kind, str) else "…"


def unknown_words(node: Node, known: Collection[str]) -> list[str]:
    """Return the words of a schema that assert something and are not known."""
    return [word for word in node if word not in {*known, *_NOTES} and word[:2] != "x-"]


def pointer(at: str, *parts: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of something below ``at``."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join((at, *escaped))


def _find_definition(root: Node, ref: Any) -> Any:
    try:
        return find_target(root, str(ref))
    except ValueError:
        return None


def _are_constants(nodes: Sequence[Any], *, but_null: bool) -> bool:
    return bool(nodes) and all(
        isinstance(one, dict)
        and "const" in one
        and not unknown_words(one, {"const", "type"})
        and not (but_null and one["const"] is None)
        for one in nodes
    )


def _excludes_null(node: Any) -> bool:
    """Return True if null does not fit the schema at first sight."""
    return isinstance(node, dict) and isinstance(node.get("type"), str) and "enum" not in node


def _with_one_type(node: Node, nullable: bool, notes: Mapping[str, Any]) -> Resolved | None:
    """Take null out of a list of types; None where there are several others."""
    kinds = node.get("type")
    if not isinstance(kinds, list) or "enum" in node or "const" in node:
        return Resolved(node, nullable, notes)
    others = [kind for kind in kinds if kind != "null"]
    if len(others) != 1:
        return None
    return Resolved({**node, "type": others[0]}, nullable or len(kinds) > 1, notes)


def _flat(
    root: Node, found: Resolved | None, at: str, translations: NullTranslations
) -> dict[str, Any]:
    """Return what a field of its own is made of."""
    if found is None or found.kind not in _CHECKED:
        raise _NotFlatError
    node, kind = found.node, found.kind
    how: dict[str, Any] = {"kind": kind}
    checked = set(_CHECKED[kind])
    if kind == "choice":
        how = {"kind": "option", "options": build_options(_read_values(node, at), at, translations)}
    elif kind == "array":
        how = _several(root, node, at, translations)
    elif kind == "string":
        form_at = node.get("format")
        how = {"kind": "text"}
        if isinstance(form_at, str) and form_at in _FORMATS:
            how = {"kind": _FORMATS[form_at]}
            checked.add("format")
        how["minimum"], how["maximum"] = _counts(node, "Length", LONGEST_TEXT, at)
        how["multiline"] = how["kind"] == "text" and (how["maximum"] or 0) > _MULTILINE_FROM
    elif kind != "boolean":
        how["minimum"], how["maximum"] = _bounds(node, at, whole=kind == "integer")
    if unknown_words(node, checked):
        how["schema"] = _schema_text(root, node)
    return how


def _several(root: Node, node: Node, at: str, translations: NullTranslations) -> dict[str, Any]:
    """Return what a choice of several options is made of, or a list of strings."""
    items = resolve(root, node.get("items", True))
    distinct = node.get("uniqueItems", False)
    if items is None or items.nullable or not isinstance(distinct, bool):
        raise _NotFlatError
    how: dict[str, Any]
    if items.kind == "choice":
        place = pointer(at, "items")
        options = build_options(_read_values(items.node, place), place, translations)
        how = {"kind": "options", "options": options}
        least, most = _counts(node, "Items", len(options), at)
    elif items.kind == "string":
        how = {"kind": "list", "distinct": distinct}
        least, most = _counts(node, "Items", MOST_ITEMS, at)
    else:
        raise _NotFlatError
    known = _CHECKED["choice"] if items.kind == "choice" else {"type"}
    if unknown_words(items.node, known):
        how["schema"] = _schema_text(root, node)
    return {**how, "minimum": least, "maximum": most}


def _read_values(node: Node, at: str) -> list[tuple[Any, str]]:
    """Return the listed values, each with its title, which may be empty."""
    for word in ("oneOf", "anyOf"):
        if word in node:
            kinds = [node.get("type", one.get("type")) for one in node[word]]
            values = [(one["const"], _read_note(one, "title")) for one in node[word]]
            break
    else:
        listed = node["enum"] if "enum" in node else [node["const"]]
        if not isinstance(listed, list) or ("enum" in node and "const" in node):
            raise _NotFlatError
        # Earlier versions of MCP give the values of an enum names.
        names = node.get("enumNames", [""] * len(listed))
        if not isinstance(names, list) or len(names) != len(listed):
            raise SchemaError(pointer(at, "enumNames"), "this is a list with a name for each value")
        kinds = [node.get("type")] * len(listed)
        values = [(one, str(name)) for one, name in zip(listed, names, strict=True)]
    for (value, _), kind in zip(values, kinds, strict=True):
        if isinstance(value, list | dict):
            raise _NotFlatError
        if kind is not None and not _is_of(value, kind):
            raise SchemaError(at, f"{value!r:.40} is not of the type of its schema")
    return values


def _is_of(value: Any, kinds: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "number": number,
        "integer": number and (isinstance(value, int) or value.is_integer()),
    }
    listed = kinds if isinstance(kinds, list) else [kinds]
    return any(fits.get(kind, False) for kind in listed if isinstance(kind, str))


def _schema_text(root: Node, node: Node) -> str:
    """Return a part of the schema, with the definitions that it may refer to."""
    around = {word: root[word] for word in ("$schema", "$defs", "definitions") if word in root}
    return json.dumps({**around, **node})


def _counts(node: Node, what: str, limit: int, at: str) -> tuple[int | None, int | None]:
    """Return the bounds of a length, which a limit of ours bounds as well."""
    least, most = node.get(f"min{what}"), node.get(f"max{what}")
    for count in (least, most):
        is_count = isinstance(count, int) and not isinstance(count, bool)
        if count is not None and not (is_count and 0 <= count <= _MAX_COUNT):
            raise _NotFlatError
    _check_satisfiable(least, limit if most is None else min(most, limit), at)
    return least, most


def _bounds(node: Node, at: str, *, whole: bool) -> tuple[float | None, float | None]:
    """Return the least and the largest number; those of an integer are whole."""
    given = [node.get(word) for word in ("minimum", "maximum")]
    beyond = [node.get(f"exclusive{word}") for word in ("Minimum", "Maximum")] if whole else []
    for bound in (*given, *beyond):
        is_number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if bound is not None and not (is_number and abs(bound) <= _MAX_COUNT * 10**3):
            raise _NotFlatError
    least, most = given
    if whole:
        lower = [math.ceil(one) for one in given[:1] if one is not None]
        lower += [math.floor(one) + 1 for one in beyond[:1] if one is not None]
        upper = [math.floor(one) for one in given[1:] if one is not None]
        upper += [math.ceil(one) - 1 for one in beyond[1:] if one is not None]
        least, most = max(lower, default=None), min(upper, default=None)
    _check_satisfiable(least, most, at)
    return least, most


def _check_satisfiable(least: float | None, most: float | None, at: str) -> None:
    if least is not None and most is not None and least > most:
        reason = f"no value fits: at least {number_text(least)} and at most {number_text(most)}"
        raise SchemaError(at, reason)


def _read_note(notes: Mapping[str, Any], word: str) -> str:
    note = notes.get(word)
    return note if isinstance(note, str) and note.strip() else ""
