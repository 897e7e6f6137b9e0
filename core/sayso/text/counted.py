"""A sentence that counts: English has two forms of it, and every language its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counted:
    """A sentence for one and a sentence for any other number; ``{count}`` is that number."""

    one: str
    other: str

    def of(self, count: float, **more: object) -> str:
        """The sentence for so many."""
        count = int(count) if count == int(count) else count
        return (self.one if count == 1 else self.other).format(count=count, **more)
