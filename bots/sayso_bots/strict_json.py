"""JSON from outside that decides something: a name that is there twice is refused."""

from __future__ import annotations

from typing import Any


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs: an ``object_pairs_hook`` of ``json.loads``.

    Python takes the last of two equal names, other readers the first: a person would see one,
    and the other would run.

    Raises:
        ValueError: a name is there twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a name twice")
    return found
