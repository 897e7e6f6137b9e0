"""What is worth a word about a pattern: noted while it is read, or found out afterwards."""

from __future__ import annotations

from dataclasses import dataclass
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
    NO_CLASS = auto()
    OPEN_BRACKET = auto()
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


@dataclass(frozen=True, slots=True)
class Danger:
    """Something unexpected that a pattern matches: ``sample`` is a value that it does match.

    ``spelling`` is the part of the pattern that means it, empty where it is no
    single part.
    """

    kind: DangerKind
    sample: str
    spelling: str = ""


class MissKind(Enum):
    """Values that a star leaves out."""

    LINE_BREAK = auto()
    HIDDEN_NAME = auto()
    LEADING_SPACE = auto()


@dataclass(frozen=True, slots=True)
class Miss:
    """Something unexpected that a pattern does not match: ``sample`` is such a value."""

    kind: MissKind
    sample: str
