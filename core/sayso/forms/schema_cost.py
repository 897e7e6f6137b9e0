"""What it costs to hold data against a JSON Schema: its references, written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

MOST_REFERENCES = 1_000
MOST_WORK = 50_000

# They move the place that a reference starts from, or lead where only the data decides.
_ELSEWHERE = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef")


def written_out(schema: Mapping[str, Any]) -> int:
    """How many schemas there are with every reference replaced by what it leads to.

    Raises:
        ValueError: more than 1,000 references are followed, one leads to itself
            or out of the schema, or it is nested too deeply.
    """
    try:
        size, references = _Written(schema).root()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if references > MOST_REFERENCES:
        raise ValueError(f"its references written out are over {MOST_REFERENCES:,}")
    return size


def values_in(data: Any) -> int:
    """How many values there are in JSON data."""
    if isinstance(data, Mapping):
        return 1 + sum(map(values_in, data.values()))
    return 1 + sum(map(values_in, data)) if isinstance(data, list) else 1


class _Written:
    """Sizes of the parts of one schema, each looked at once. Data in it counts like schemas."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._known: dict[int, tuple[int, int] | None] = {}

    def root(self) -> tuple[int, int]:
        # Definitions count where they are referred to.
        apart = {"$defs", "definitions", "$id", "id"}
        self._known[id(self._schema)] = None
        return self._of({k: v for k, v in self._schema.items() if k not in apart})

    def _of(self, node: Any) -> tuple[int, int]:
        if isinstance(node, Mapping):
            return self._of_schema(node)
        size, references = 0, 0
        for item in node if isinstance(node, list | tuple) else ():
            more = self._of(item)
            size, references = size + more[0], references + more[1]
        return size, references

    def _of_schema(self, node: Mapping[str, Any]) -> tuple[int, int]:
        if any(isinstance(node.get(word), str) for word in self._elsewhere):
            raise ValueError("it has references that are not JSON Pointers into it")
        size, references = 1, 0
        if isinstance(ref := node.get("$ref"), str):
            size, references = self._behind(ref)
            size, references = size + 1, references + 1
        for part in node.values():
            more = self._of(part)
            size, references = size + more[0], references + more[1]
        return size, references

    def _behind(self, ref: str) -> tuple[int, int]:
        target = self._target(ref)
        if id(target) not in self._known:
            self._known[id(target)] = None
            self._known[id(target)] = self._of(target)
        known = self._known[id(target)]
        if known is None:
            raise ValueError("it contains itself")
        return known

    def _target(self, ref: str) -> Any:
        at: Any = self._schema
        if not ref.startswith("#") or ref[1:2] not in ("", "/"):
            raise ValueError("it has references that are not JSON Pointers into it")
        for part in unquote(ref[1:]).split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(at, Mapping) and name in at:
                at = at[name]
            elif isinstance(at, list) and name.isdecimal() and int(name) < len(at):
                at = at[int(name)]
            else:
                raise ValueError("a reference leads nowhere")
        return at

    @property
    def _elsewhere(self) -> tuple[str, ...]:
        # Draft 4 calls its $id id, which is a name like any other later.
        old = "draft-04" in str(self._schema.get("$schema", ""))
        return (*_ELSEWHERE, "id") if old else _ELSEWHERE
