"""One call of a batch that was handed in: what is stored while nobody waits for it."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.agent.verdict import Verdict
from sayso.calls import ToolCall


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
