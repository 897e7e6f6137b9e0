"""What is worth a word about a pattern, noted while it is read."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class DangerKind(Enum):
    """What people may not expect of a pattern."""

    MATCHES_NOTHING = auto()
    MATCHES_EVERYTHING = auto()
    COMMAND_AFTER = auto()
    COMMAND_BEFORE = auto()
    LEAVES_FOLDER = auto()
    OTHER_FOLDERS = auto()
    LEAVES_HOST = auto()
    NEGATED = auto()
    BANG_IN_SET = auto()
    RANGE_AS_SET = auto()
    ANYTHING_BUT = auto()
    WHOLE_BRANCHES = auto()
    ESCAPE = auto()
    QUOTES = auto()
    TEXT_AFTER_ALL = auto()
    LOOKS_AHEAD = auto()
    DROPPED_START = auto()


class Note(NamedTuple):
    """Something in a pattern that may surprise: what kind of thing, and its spelling."""

    kind: DangerKind
    spelling: str
