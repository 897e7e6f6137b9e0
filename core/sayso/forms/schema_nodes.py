"""JSON Schema, as far as it can be asked in chat: references followed, unknown words refused."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sayso.errors import SchemaError

SCHEMA_LIMIT = 64 * 1024
"""A schema takes at most this many bytes as JSON."""

Node = Mapping[str, Any]

# Words that assert nothing. Those beginning with x- assert nothing either.
_NOTES = frozenset(
    {
        "$comment",
        "$defs",
        "default",
        "definitions",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    }
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A schema behind its references and its ``or null``.

    ``notes`` are its title, description and default; what stands nearer to the
    property counts.
    """

    node: Node
    at: str
    nullable: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)


def plain_schema(schema: Any) -> dict[str, Any]:
    """A copy of the schema as plain JSON.

    Raises:
        SchemaError: it is no JSON object, or larger than 64 KiB.
    """
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError("", f"the schema is not JSON ({type(error).__name__})") from None
    if len(text) > SCHEMA_LIMIT:
        raise SchemaError("", f"the schema takes {len(text)} bytes, over {SCHEMA_LIMIT}")
    plain = json.loads(text)
    if not isinstance(plain, dict):
        raise SchemaError("", "a schema is an object")
    return plain


def pointer(at: str, *parts: str | int) -> str:
    """The JSON Pointer (RFC 6901) of something below ``at``."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join((at, *escaped))


def only(node: Node, known: Collection[str], at: str, what: str) -> None:
    """Refuse every word that could let a value through which the schema does not allow.

    Raises:
        SchemaError: there is such a word.
    """
    for word in node:
        if word not in known and word not in _NOTES and not word.startswith("x-"):
            raise SchemaError(pointer(at, word), f"{word!r:.40} of {what} cannot be asked in chat")


def resolved(root: Node, node: Any, at: str) -> Resolved:
    """The schema behind ``$ref`` into the root's definitions and ``anyOf`` of it and null.

    Raises:
        SchemaError: it leads elsewhere, to itself, or to more than one schema.
    """
    notes: dict[str, Any] = {}
    seen: set[str] = set()
    union = ""
    while True:
        if not isinstance(node, dict):
            raise SchemaError(at, "a schema that is true or false cannot be asked in chat")
        behind = ("title",) if seen else ()
        for word in ("title", "description", "default"):
            if word in node and word not in notes and word not in behind:
                notes[word] = node[word]
        if "$ref" in node:
            only(node, {"$ref"}, at, "a reference")
            if (name := str(node["$ref"])) in seen:
                raise SchemaError(at, "a schema that contains itself cannot be asked in chat")
            seen.add(name)
            node, at = _referred(root, name, at)
        elif word := next((word for word in ("anyOf", "oneOf") if word in node), ""):
            if union:
                raise SchemaError(pointer(at, word), "only one `or null` can be asked in chat")
            only(node, {word}, at, "a choice of schemas")
            node, at, union = *_or_null(node[word], pointer(at, word)), word
        else:
            return _typed(node, at, union, notes)


def _referred(root: Node, name: str, at: str) -> tuple[Any, str]:
    parts = name.split("/")
    if len(parts) == 3 and parts[0] == "#" and parts[1] in ("$defs", "definitions"):
        key = parts[2].replace("~1", "/").replace("~0", "~")
        definitions = root.get(parts[1])
        if isinstance(definitions, dict) and key in definitions:
            return definitions[key], pointer("", parts[1], key)
    raise SchemaError(pointer(at, "$ref"), f"{name!r:.80} is not one of the schema's own $defs")


def _or_null(members: Any, at: str) -> tuple[Any, str]:
    if isinstance(members, list) and len(members) == 2:
        for null, other in ((0, 1), (1, 0)):
            node = members[null]
            if isinstance(node, dict) and node.get("type") == "null":
                only(node, {"type"}, pointer(at, null), "null")
                return members[other], pointer(at, other)
    raise SchemaError(at, "only a choice between one schema and null can be asked in chat")


def _typed(node: Node, at: str, union: str, notes: Mapping[str, Any]) -> Resolved:
    """With a list of types, null among them, the other type and whether null will do."""
    kind = node.get("type")
    chosen = "enum" in node or "const" in node
    null = kind == "null"
    if isinstance(kind, list) and not chosen:
        others = [one for one in kind if one != "null"]
        if len(others) != 1 or not isinstance(others[0], str):
            raise SchemaError(
                pointer(at, "type"), "one type, or one and null, can be asked in chat"
            )
        null = len(kind) > 1
        node = {**node, "type": others[0]}
    elif chosen:
        enum = node.get("enum")
        null = None in (enum if isinstance(enum, list) else [node.get("const", "")])
    if union == "oneOf" and null:
        raise SchemaError(at, "null fits both schemas of a oneOf: it would never be valid")
    return Resolved(node, at, bool(union) or (null and not chosen), notes)
