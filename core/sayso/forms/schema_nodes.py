"""JSON Schema, as far as it can be asked in chat: references followed, unknown words refused."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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


_NO_CHOICE = (
    "only a choice between constants, between flat objects, or between a schema and null "
    "can be asked in chat"
)
_TWO_NULLS = "null fits both schemas of a oneOf: it would never be valid"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A schema behind its references and its ``or null``.

    ``notes`` are its title, description and default; what stands nearer to the
    property counts. It may be a choice of ``constants``, or of the objects that
    are its ``variants``.
    """

    node: Node
    at: str
    nullable: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)
    constants: tuple[Node, ...] = ()
    variants: tuple[Resolved, ...] = ()

    @property
    def is_chosen(self) -> bool:
        """Whether it is one of several values."""
        return bool(self.constants or {"enum", "const"} & self.node.keys())

    @property
    def is_object(self) -> bool:
        """Whether it is one object, and no choice."""
        return self.node.get("type") == "object" and not self.is_chosen and not self.variants


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


def resolved(root: Node, node: Any, at: str, *, is_chosen: bool = False) -> Resolved:
    """The schema behind ``$ref`` into the root's definitions and a choice of it and null.

    One that ``is_chosen`` from others is no choice itself.

    Raises:
        SchemaError: it leads elsewhere, to itself, or to a choice that no form asks for.
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
            members, null = _members(node[word], pointer(at, word))
            if union and (null or len(members) == 1):
                raise SchemaError(pointer(at, word), "only one `or null` can be asked in chat")
            union = union or (word if null else "")
            if len(members) > 1:
                if is_chosen:
                    raise SchemaError(pointer(at, word), _NO_CHOICE)
                return _Choice(root, node, word, at, members).resolved(union, notes)
            only(node, {word}, at, "a choice of schemas")
            at, node = members[0]
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


def _members(members: Any, at: str) -> tuple[list[tuple[str, Any]], bool]:
    """The schemas to choose from, each with where it stands, and whether null is one of them."""
    if not isinstance(members, list):
        raise SchemaError(at, _NO_CHOICE)
    others: list[tuple[str, Any]] = []
    for number, member in enumerate(members):
        place = pointer(at, number)
        if isinstance(member, dict) and member.get("type") == "null":
            only(member, {"type"}, place, "null")
        else:
            others.append((place, member))
    nulls = len(members) - len(others)
    if not others or nulls > 1:
        raise SchemaError(at, _NO_CHOICE)
    return others, nulls == 1


class _Choice(NamedTuple):
    """A choice of constants, or of objects."""

    root: Node
    node: Node
    word: str
    at: str
    members: Sequence[tuple[str, Any]]

    def resolved(self, union: str, notes: Mapping[str, Any]) -> Resolved:
        """What is chosen from; with ``union``, null will do besides."""
        node, word, place = self.node, self.word, pointer(self.at, self.word)
        if all(isinstance(member, dict) and "const" in member for _, member in self.members):
            only(node, {word, "type"}, self.at, "a choice of constants")
            for at, member in self.members:
                only(member, {"const", "type"}, at, "a constant")
            if union and any(member["const"] is None for _, member in self.members):
                raise SchemaError(place, _TWO_NULLS)
            constants = tuple(member for _, member in self.members)
            return Resolved(node, place, bool(union), notes, constants=constants)
        only(node, {word, "discriminator"}, self.at, "a choice of schemas")
        variants = tuple(
            resolved(self.root, member, at, is_chosen=True) for at, member in self.members
        )
        if any(not one.is_object or one.nullable for one in variants):
            raise SchemaError(place, _NO_CHOICE)
        return Resolved(node, place, bool(union), notes, variants=variants)


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
        raise SchemaError(at, _TWO_NULLS)
    return Resolved(node, at, bool(union) or (null and not chosen), notes)
