"""Arguments that somebody changed: whether the agent reads what was approved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sayso.digests import is_read_alike

# Codex reads 127 levels of JSON, two of which are the answer's own; what it cannot read counts for
# no answer, and the call runs as it was.
_DEEPEST = 100


def is_read_as_approved(arguments: Mapping[str, Any]) -> bool:
    """Whether an agent in JavaScript or Rust runs these very arguments.

    Raises:
        InvalidCallError: they are no JSON at all.
    """
    return is_read_alike(arguments) and _depth(arguments) <= _DEEPEST


def _depth(arguments: Mapping[str, Any]) -> int:
    depth, level = 0, list[Any]([arguments])
    while level:
        inside = [item for one in level for item in _inside(one)]
        level = [item for item in inside if isinstance(item, Mapping | list | tuple)]
        depth += 1
    return depth


def _inside(value: Mapping[str, Any] | Sequence[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value
