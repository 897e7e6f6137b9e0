"""The signs of a glob that can be told from its text alone."""

from __future__ import annotations

import re

from sayso.globs.branch import Reading
from sayso.globs.parts import CarefulRun, Run
from sayso.globs.sets import ANY

GROUPS = ("!(", "?(", "*(", "+(")
# Without these there is but text, * and ?: there a star does not step into a hidden name.
NOT_PLAIN = re.compile(r'^[*!]|[/()\[\]{}"]')
# In these a star after a dot or a slash takes at least one character.
SHORT = {".*", "*.*", "*/*", "**/*", "**/*.*", "**/.*"}
# After these, and after a set of characters at the end, one slash may follow.
EXTENSION = re.compile(
    r"(?:\*|\.\*|\*\.\*|\*/\*|\*\*|\*\*/\*(?:\.\*)?|\*\*/\.\*)(?:\.\w+)+", re.ASCII
)
# ``**`` twice in a row means what it means once.
FOLDERS_AGAIN = re.compile(r"(?:/\*\*(?=/|\Z))+")
RANGE = re.compile(r"[\w+-]+(?:\.{2,3}[\w+-]+)+|\.\.", re.ASCII)
# What may follow ``!(*...)`` as an extension.
REST = re.compile(r"\.[^\\/.]+")
# The rest of a pattern, where it is plain to see that it takes a character.
TAKES_SOMETHING = re.compile(r"\*{0,2}[\w.\[-]")
# Repetitions of a repetition that the reference takes as text.
KNOWN_LITERAL = re.compile(r"[*+]\((?:\w+\|)*\+\(\w+\)(?:\|\w+)*\)")
# The reference takes such a set as text, too.
ALSO_TEXT = re.compile(r"\[[^-*+?.^${}(|)\[\]\\]+\]")
REPEATED = re.compile(r"[*+]\((?!\?)")


def bangs(source: str) -> int:
    """How many ``!`` lead the pattern: an odd number negates it."""
    count = 0
    while source.startswith("!", count) and not opens(source, count):
        count += 1
    return count


def opens(source: str, at: int) -> bool:
    """Whether the sign at ``at`` begins an extglob."""
    if not source.startswith("(", at + 1):
        return False
    if source[at] == "!":
        return not re.compile(r"\?[:=!<]").match(source, at + 2)
    return not source.startswith("?", at + 2)


def after_star(run: Reading) -> bool:
    """Whether nothing but a slash was read since a star."""
    star = run.parts[-1] if run.parts and run.letters == ["/"] else None
    return isinstance(star, CarefulRun) or (isinstance(star, Run) and star.members is ANY)
