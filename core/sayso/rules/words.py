"""The words for what may surprise the author of rules. Another language is another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

from sayso.rules.glob_warnings import Danger, DangerKind, Miss, MissKind

RuleList = Literal["deny", "allow", "allow_once"]


class Shadow(Enum):
    """What becomes of a rule that another one comes before."""

    CHANGES_NOTHING = auto()
    NEVER_APPLIES = auto()
    NEVER_USED_UP = auto()


@dataclass(frozen=True, slots=True)
class GlobWords:
    """A sentence for each danger, a name for each kind of value that is missed.

    ``{}`` in a danger is its spelling in the pattern.
    """

    dangers: Mapping[DangerKind, str]
    misses: Mapping[MissKind, str]
    example: str
    missing: str
    last_of_several: str


GLOB_ENGLISH = GlobWords(
    dangers={
        DangerKind.MATCHES_EVERYTHING: "It matches nearly everything",
        DangerKind.COMMAND_AFTER: "As a command, it also allows another one after it",
        DangerKind.COMMAND_BEFORE: "As a command, it allows any other one before its text",
        DangerKind.LEAVES_FOLDER: "It does not stay inside the folder",
        DangerKind.OTHER_FOLDERS: "As a path, it also allows those of other folders",
        DangerKind.LEAVES_HOST: "It does not stay on the host",
        DangerKind.NEGATED: "The leading ! allows nearly everything that is not named",
        DangerKind.BANG_IN_SET: (
            "{} is not a negation: it matches the ! and the characters after it; write [^ to negate"
        ),
        DangerKind.RANGE_AS_SET: "{} is one character out of a set, not a number in a range",
        DangerKind.ANYTHING_BUT: (
            "{} matches anything but what is named, including what nobody thought of"
        ),
        DangerKind.WHOLE_BRANCHES: "The | makes a choice: each side is a whole pattern of its own",
        DangerKind.DROPPED_START: "The leading ./ is dropped: the value without it is meant",
    },
    misses={
        MissKind.LINE_BREAK: "line breaks",
        MissKind.HIDDEN_NAME: "hidden names",
        MissKind.LEADING_SPACE: "a leading space",
    },
    example="{}: for example {}",
    missing="It does not match values with {}",
    last_of_several=" or ",
)


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


def danger_in_words(danger: Danger, words: GlobWords = GLOB_ENGLISH) -> str:
    """A sentence that ends in the sample, as a Python literal."""
    meaning = words.dangers[danger.kind].format(danger.spelling)
    return words.example.format(meaning, repr(danger.sample))


def misses_in_words(misses: Sequence[Miss], words: GlobWords = GLOB_ENGLISH) -> str:
    """One sentence for all that is missed, with the samples as Python literals."""
    *some, last = [words.misses[miss.kind] for miss in misses]
    named = f"{', '.join(some)}{words.last_of_several}{last}" if some else last
    samples = ", ".join(repr(miss.sample) for miss in misses)
    return words.example.format(words.missing.format(named), samples)
