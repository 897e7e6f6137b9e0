"""Values, bytes and texts that are almost right: what a seeded generator makes of a good one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

CANARY = "CANARY of the fuzzer"
"""Stands in what is sent; it may be in no log. No id of a workspace has blanks: those may."""

# Stands for brackets that json.dumps could not write.
_DEEP = "@deep@"
_ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    0.5,
    1e308,
    -0.0,
    float("nan"),
    float("inf"),
    2**53,
    2**63,
    -(2**63),
    10**400,
    "",
    " ",
    ".",
    "..",
    "\x00",
    "\ud800",
    "a\udfffb",
    "\u202e\u2066\u200b",
    "\n\r\t",
    "null",
    "true",
    "0",
    "1e400",
    "🙂" * 400,
    "x" * 3_000,
    "<@U0ALICE> *_~`> & <!channel>",
    "../../etc/passwd",
    "%00%ff",
    "{}",
    "__proto__",
    [],
    {},
    [[]],
    [None] * 200,
    {"": ""},
    {"type": "PERMISSION_REQUEST"},
    CANARY,
    _DEEP,
)


def mutated(rng: Random, value: Any, words: Sequence[Any] = ()) -> Any:
    """A copy of the value with one to four changes; ``words`` are what may turn up anywhere."""
    changed = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2, 4))):
        changed = _changed(rng, changed, words)
    return changed


def odd(rng: Random, words: Sequence[Any] = ()) -> Any:
    """A value that is wrong almost everywhere."""
    return copy.deepcopy(rng.choice((*_ODD, *words)))


def written(rng: Random, value: Any) -> bytes:
    """The value as JSON, now and then with what no serialiser writes."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.8, allow_nan=True)
    depth = rng.choice((10, 100, 1_000, 20_000))
    left, right = rng.choice((("[", "]"), ('{"a":', "}")))
    text = text.replace(f'"{_DEEP}"', left * depth + "1" + right * depth)
    if isinstance(value, dict) and value and rng.random() < 0.05:
        name = rng.choice(list(value))
        text = f"{text[:-1]}, {json.dumps(name)}: {json.dumps(odd(rng))}}}"
    data = text.encode("utf-8", "surrogatepass")
    return mangled(rng, data) if rng.random() < 0.1 else data


def mangled(rng: Random, data: bytes) -> bytes:
    """The bytes with some changed, lost, doubled or added."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(found) + 1)
        span = rng.choice((1, 1, 2, 8, 64))
        how = rng.randrange(5)
        if how == 0:
            del found[at : at + span]
        elif how == 1:
            found[at:at] = rng.randbytes(span)
        elif how == 2:
            found[at : at + span] = rng.choice((b"\x00", b"\xff", b"\xc3(", b'"', b"}", b"\r\n"))
        elif how == 3:
            found[at:at] = found[at : at + span]
        elif found:
            found = found[: max(1, at)]
    return bytes(found)


def mangled_text(rng: Random, text: str, pieces: Sequence[str]) -> str:
    """The text with some lines or characters changed; ``pieces`` are what may turn up."""
    for _ in range(rng.randint(1, 5)):
        how = rng.randrange(5)
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, rng.choice((*pieces, lines[rng.randrange(len(lines))])))
        elif how == 2 and "=" in lines[at]:
            lines[at] = f"{lines[at].partition('=')[0]}= {rng.choice(pieces)}"
        elif how == 3:
            cut = rng.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + rng.choice(pieces) + lines[at][cut:]
        else:
            cut = rng.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + lines[at][cut + 1 :]
        text = "\n".join(lines)
    return text


def from_schema(rng: Random, schema: Any, known: Any, depth: int = 0) -> Any:
    """A value that fits a JSON Schema of our own description, more or less."""
    schema = _resolved(schema, known)
    if rng.random() < 0.03 or depth > 6:
        return odd(rng)
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return from_schema(rng, rng.choice(schema[several]), known, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return _object(rng, schema, known, depth)
    if kind == "array":
        items = schema.get("items", {})
        return [from_schema(rng, items, known, depth + 1) for _ in range(rng.randrange(4))]
    simple = {
        "string": rng.choice(("a", "run_command", "slack:U0ALICE", "10m", CANARY, "x" * 300)),
        "integer": rng.choice((0, 1, 5, 100, -1)),
        "number": rng.choice((0, 1.5, -2)),
        "boolean": rng.random() < 0.5,
        "null": None,
    }
    return simple[kind] if kind in simple else odd(rng)


def _object(rng: Random, schema: Any, known: Any, depth: int) -> dict[str, Any]:
    needed = schema.get("required", ())
    made = {
        name: from_schema(rng, of, known, depth + 1)
        for name, of in schema.get("properties", {}).items()
        if name in needed or rng.random() < 0.3
    }
    if rng.random() < 0.1:
        made[rng.choice(("x", "", "__class__", "type"))] = odd(rng)
    return made


def _resolved(schema: Any, known: Any) -> Any:
    while isinstance(schema, dict) and "$ref" in schema:
        found = known
        for part in schema["$ref"].lstrip("#/").split("/"):
            found = found[part]
        schema = found
    return schema if isinstance(schema, dict) else {}


def _changed(rng: Random, value: Any, words: Sequence[Any]) -> Any:
    places = list(_places(value))
    if not places or rng.random() < 0.02:
        return odd(rng, words)
    holder, key = rng.choice(places)
    how = rng.randrange(6)
    if how == 0 and isinstance(holder, dict):
        del holder[key]
    elif how == 1:
        holder[key] = [holder[key]]
    elif how == 2 and isinstance(holder, dict):
        holder[rng.choice(("x", "type", "id", f"{key}s", ""))] = holder.pop(key)
    elif how == 3:
        other, there = rng.choice(places)
        if there in other if isinstance(other, dict) else there < len(other):
            holder[key] = copy.deepcopy(other[there])
    elif how == 4 and isinstance(holder[key], str):
        text = holder[key]
        at = rng.randrange(len(text) + 1)
        holder[key] = text[:at] + str(odd(rng, words))[:2_000] + text[at + 1 :]
    else:
        holder[key] = odd(rng, words)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        items = list(value.items())
    else:
        items = list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in items:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
