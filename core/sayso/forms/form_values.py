"""Values of a form: raw as a platform gives them, and read as JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Raw = str | Sequence[str] | bool | None
"""The raw value of one field; None and "" are no answer.

A text, a number, a date (``2026-11-21``), a moment or JSON is a string, a boolean is a
bool or ``true`` or ``false``, an option is its position in ``options`` as a
decimal string, options are a list of those. A list is a string with an item a
line, or a list with the raw value of each item.
"""

Inputs = Mapping[str, Any]
"""Values by the names of their fields: raw on a press, read ones in an answer."""

NO_INPUTS: Inputs = {}


def is_same_json(one: Any, other: Any) -> bool:
    """Return True if two JSON values are equal: 1 is 1.0, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same_json, one, other))
    return bool(one == other)
