"""The words for what may surprise the author of rules. Another language is another table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

from sayso.globs.words import ENGLISH as GLOB_ENGLISH
from sayso.globs.words import GlobWords

RuleList = Literal["deny", "allow", "allow_once"]


class Shadow(Enum):
    """What becomes of a rule that another one comes before."""

    CHANGES_NOTHING = auto()
    NEVER_APPLIES = auto()
    NEVER_USED_UP = auto()


@dataclass(frozen=True, slots=True)
class LintWords:
    """A sentence for each finding of the linter, and those for globs."""

    rules: Mapping[RuleList, str]
    tool_is_pattern: str
    every_call: str
    in_parameter: str
    shadows: Mapping[Shadow, str]
    again: str
    covered: str
    globs: GlobWords = GLOB_ENGLISH


ENGLISH = LintWords(
    rules={
        "deny": "deny rule {}",
        "allow": "allow rule {}",
        "allow_once": "allow-once rule {}",
    },
    tool_is_pattern=("{}: the names of tools are compared exactly, and {!r} looks like a pattern"),
    every_call="{} allows every call of {}, whatever its arguments",
    in_parameter="{}, {} {!r}: {}",
    shadows={
        Shadow.CHANGES_NOTHING: "{} changes nothing: {}",
        Shadow.NEVER_APPLIES: "{} never applies: {}",
        Shadow.NEVER_USED_UP: "{} is never used up: {}",
    },
    again="it repeats {}",
    covered="{} covers all its calls and comes first",
)
