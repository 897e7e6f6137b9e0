"""What a value was at one moment, to see later whether somebody changed it in place."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

_UNCHANGING = frozenset({str, int, float, bool, bytes, type(None)})


# Without references, and strings written alike whether they are interned: the same bytes for the
# same value at any time.
_FORM = 2


def snapshot(value: Any) -> Any:
    """The value as it is now: containers are copied, what cannot change is kept as it is.

    Of an object whose inside nothing is known, only which one it is.
    """
    try:
        return _Plain(marshal.dumps(value, _FORM))
    except ValueError:  # something in it is no plain value
        return _copied(value)


class _Plain(bytes):
    """A plain value, written: quick to make, and read only where it has changed."""


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    # To look at an iterator would use it up.
    if isinstance(value, Iterator):
        return id(value)
    return to_jsonable_python(value, fallback=id, bytes_mode="base64", inf_nan_mode="strings")


def is_same(before: Any, now: Any) -> bool:
    """Whether two snapshots are of the same value: 1, 1.0 and True are three."""
    if isinstance(before, _Plain) and isinstance(now, _Plain):
        # The order of keys may differ.
        return bytes(before) == bytes(now) or _is_same(_read(before), _read(now))
    return _is_same(_read(before), _read(now))


def _read(snapshot: Any) -> Any:
    return _copied(marshal.loads(snapshot)) if isinstance(snapshot, _Plain) else snapshot  # noqa: S302


def _is_same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    kind = type(before)
    if kind is not type(now):
        return False
    if kind is dict:
        return before.keys() == now.keys() and all(
            _is_same(item, now[key]) for key, item in before.items()
        )
    if kind is list:
        return len(before) == len(now) and all(map(_is_same, before, now))
    return bool(before == now)
