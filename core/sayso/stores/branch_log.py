"""What a branch's log is made of: events with their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sayso.calls import RunRef

KEPT_EVENTS = 1_000
"""About how many events of a branch are kept; at least this many, unless they are too large."""

KEPT_BYTES = 16 * 1024 * 1024
"""How many bytes the events of a branch may take together; the newest is kept however large."""

KEPT_SECONDS = 7 * 86_400
"""How long a branch's events are kept after the last of them."""

PAGE_BYTES = 256 * 1024
"""How many bytes are read of a log at once: up to the event that fills them."""

LogKind = Literal["request", "ending", "outcome", "overruling", "overruled"]
"""What an event is to its question; a question has at most one of each."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a branch's log: after its event of this number, or before the first for 0.

    ``epoch`` is random and stands for one life of the log: when the store has
    lost a log, its positions mean nothing in the next one.
    """

    epoch: str
    number: int

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position in its written form; ``0`` is the beginning of what is kept.

        Raises:
            ValueError: the text is not a position.
        """
        if text == "0":
            return BEGINNING
        epoch, _, number = text.rpartition(".")
        known = text.isascii() and epoch.replace("-", "").replace("_", "").isalnum()
        if not known or not number.isdecimal() or len(epoch) > 32 or len(number) > 15:
            raise ValueError("is neither the id of an event of this stream nor 0")
        return cls(epoch, int(number))

    def __str__(self) -> str:
        return f"{self.epoch}.{self.number}" if self.epoch else "0"


BEGINNING = Position("", 0)
"""The beginning of whatever is kept."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event of a branch as it goes over the wire, also of a kind that is not known here."""

    position: Position
    type: str
    data: str

    @property
    def size(self) -> int:
        """The bytes of its data."""
        return len(self.data.encode())


def is_full(page: Sequence[LoggedEvent], count: int) -> bool:
    """Whether a page of at most so many events ends before the log may end."""
    return len(page) >= count or sum(event.size for event in page) >= PAGE_BYTES


def branch_of(run: RunRef) -> tuple[str, str, str]:
    """The branch that a run is on, whichever run it is."""
    return run.agent_id, run.session_id, run.branch_id
