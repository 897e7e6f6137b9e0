"""What a branch's log is made of: events with their positions, and the bell that says it grew."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assent.calls import RunRef
from assent.events import Event

LOG_TOPIC = "branches"
"""The topic of the bus on which every log of the store rings when it grows."""

KEPT_EVENTS = 1_000
"""About how many events of a branch are kept; at least so many."""

KEPT_SECONDS = 7 * 86_400
"""How long a branch's events are kept after the last of them."""

LogKind = Literal["request", "ending", "outcome"]
"""What an event is to its question; a question has at most one of each."""

_POSITION = re.compile(r"(?P<epoch>[A-Za-z0-9_-]{1,32})\.(?P<number>\d{1,15})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a branch's log: after its event of this number, or before the first for 0.

    ``epoch`` is random and stands for one life of the log: when the store has
    lost a log, positions in it are no positions in the next one.
    """

    epoch: str
    number: int

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position in its written form; ``0`` is the beginning of what is kept.

        Raises:
            ValueError: the text is no position.
        """
        if text == "0":
            return BEGINNING
        match = _POSITION.fullmatch(text)
        if match is None:
            raise ValueError("is not the id of an event of this stream, nor 0")
        return cls(match["epoch"], int(match["number"]))

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


class BranchGrewEvent(Event):
    """The bell: something was appended to the log of this branch."""

    type: Literal["BRANCH_GREW"] = "BRANCH_GREW"
    source_name: str = ""
    agent_id: str
    session_id: str
    branch_id: str

    @classmethod
    def of(cls, run: RunRef) -> BranchGrewEvent:
        """The bell of the run's branch."""
        return cls(agent_id=run.agent_id, session_id=run.session_id, branch_id=run.branch_id)


def branch_of(run: RunRef) -> tuple[str, str, str]:
    """The branch that a run is on, whichever run it is."""
    return run.agent_id, run.session_id, run.branch_id
