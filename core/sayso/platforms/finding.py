"""What a look around found: a line of ``sayso check``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "info", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    ``passing`` says of a failure that it may be over by itself.
    """

    level: Level
    subject: str
    text: str
    passing: bool = False


@dataclass(frozen=True, slots=True)
class NotLooked:
    """Nobody could look, and why: it is not known whether there is a problem."""

    why: str
