"""JSON from outside that decides something: read strictly, or refused. Loads next to nothing."""

from __future__ import annotations

from typing import Any

INVALID_REQUEST = -32600
"""JSON-RPC's code for a message that is none."""


class MalformedMessageError(ValueError):
    """A message, an event or a file is not what every reader would read alike; it goes no further.

    ``code`` is JSON-RPC's; ``id`` is that of the request as JSON, where there is one to answer.
    """

    def __init__(self, why: str, code: int = INVALID_REQUEST, id_: str = "null") -> None:
        super().__init__(why)
        self.code = code
        self.id = id_


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
