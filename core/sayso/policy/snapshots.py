"""What a value was at one moment, to see later whether somebody changed it in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

_UNCHANGING = frozenset({str, int, float, bool, bytes, type(None)})


def snapshot(value: Any) -> Any:
    """The value as it is now: containers are copied, what cannot change is kept as it is.

    Of an object whose inside nothing is known, only which one it is.
    """
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: snapshot(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [snapshot(item) for item in value]
    # To look at an iterator would use it up.
    if isinstance(value, Iterator):
        return id(value)
    return to_jsonable_python(value, fallback=id, bytes_mode="base64", inf_nan_mode="strings")


def is_same(before: Any, now: Any) -> bool:
    """Whether two snapshots are of the same value: 1, 1.0 and True are three."""
    if before is now:
        return True
    kind = type(before)
    if kind is not type(now):
        return False
    if kind is dict:
        return before.keys() == now.keys() and all(
            is_same(item, now[key]) for key, item in before.items()
        )
    if kind is list:
        return len(before) == len(now) and all(map(is_same, before, now))
    return bool(before == now)
