"""One call of a batch that was handed in: what is stored while nobody waits for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assent.calls import ToolCall, as_json
from assent.errors import InvalidCallError
from assent.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submitted call; ``said`` is the id of its question, or the verdict that needed nobody.

    Keep it for as long as the batch waits, in this process or in a file:
    ``TypeAdapter(list[Submitted])`` of pydantic writes it as JSON and reads it
    again. The arguments in it are plain JSON values. ``source_name`` and
    ``path`` say who asked.
    """

    call: ToolCall
    said: str | Verdict
    source_name: str = ""
    path: tuple[str, ...] = ()

    @property
    def permission_id(self) -> str | None:
        """The id of the question; None where nobody had to be asked."""
        return self.said if isinstance(self.said, str) else None

    @property
    def verdict(self) -> Verdict | None:
        """The verdict as it was at once; None where there is a question."""
        return self.said if isinstance(self.said, Verdict) else None


def as_stored(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the arguments in plain JSON values, which is the same after it was stored.

    Raises:
        InvalidCallError: as for :func:`~assent.calls.as_json`, or a number is not finite.
    """
    plain = as_json(arguments)
    try:
        json.dumps(plain, allow_nan=False)
    except ValueError:
        # Read again, it would be null: something else than what was approved.
        message = "a number in the arguments is not finite, which JSON cannot store: pass a text"
        raise InvalidCallError(message) from None
    return plain
