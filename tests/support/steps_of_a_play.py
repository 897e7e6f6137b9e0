"""What can happen in a play of gates: calls that come up, people who answer, and all the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sayso import ToolCall

# What happens, and with what: a method of the world that plays it.
Step = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """What a person says, and what happens elsewhere before that."""

    key: str | None
    meanwhile: Sequence[Step] = ()


@dataclass(frozen=True)
class Check:
    """A call comes up in one of the processes, with the answers to what is asked about it."""

    how: Literal["check", "before", "submit"]
    process: int
    call: ToolCall
    own: Answer
    person: Answer
