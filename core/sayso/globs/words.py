"""The words for what is unexpected of a glob. Another language is another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sayso.globs.notes import Danger, DangerKind, Miss, MissKind


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


ENGLISH = GlobWords(
    dangers={
        DangerKind.MATCHES_NOTHING: "It matches nothing but its own spelling",
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
        DangerKind.NO_CLASS: (
            "{} is no class of characters but a set of single ones; "
            "a class is written like [[:alpha:]]"
        ),
        DangerKind.OPEN_BRACKET: "{} is never closed: it stands for itself",
        DangerKind.RANGE_AS_SET: "{} is one character out of a set, not a number in a range",
        DangerKind.ANYTHING_BUT: (
            "{} matches anything but what is named, including what nobody thought of"
        ),
        DangerKind.WHOLE_BRANCHES: "The | makes a choice: each side is a whole pattern of its own",
        DangerKind.ESCAPE: "{} has a meaning of its own, as in a regular expression",
        DangerKind.QUOTES: (
            "{} means what is between the quotes: the value itself has no quotes there"
        ),
        DangerKind.TEXT_AFTER_ALL: "{} repeats a repetition, so it is taken as plain text",
        DangerKind.LOOKS_AHEAD: "{}...) only looks ahead and consumes no characters",
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


def danger_in_words(danger: Danger, words: GlobWords = ENGLISH) -> str:
    """A sentence that ends in the sample, as a Python literal."""
    meaning = words.dangers[danger.kind].format(danger.spelling)
    return words.example.format(meaning, repr(danger.sample))


def misses_in_words(misses: Sequence[Miss], words: GlobWords = ENGLISH) -> str:
    """One sentence for all that is missed, with the samples as Python literals."""
    *some, last = [words.misses[miss.kind] for miss in misses]
    named = f"{', '.join(some)}{words.last_of_several}{last}" if some else last
    samples = ", ".join(repr(miss.sample) for miss in misses)
    return words.example.format(words.missing.format(named), samples)
