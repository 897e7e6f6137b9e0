"""Patterns that mean a program that can only look, and any plain words for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from sayso.shell.read_only_table import read_only_table

# No character that a shell acts on: none that quotes, expands (not even the % of Windows),
# redirects or ends a command, no white space but the space. No comma either: a list of
# strings is compared with commas between them, and must not look like one string.
_PLAIN = "a-zA-Z0-9 _./:=@+-"
_WORDS = re.compile(rf"([a-z]+)(?: [{_PLAIN}]+)?")


def program_pattern(command: str) -> str | None:
    """Return the pattern that means any plain words for the program of this command line.

    None if the line is not one of plain words, or if its program may do more than read.
    """
    found = _WORDS.fullmatch(command)
    if found is None or found[1] not in _programs().values():
        return None
    return _pattern(found[1])


def program_of(pattern: str) -> str | None:
    """Return the program that a pattern of ``program_pattern`` is about; None for any other."""
    return _programs().get(pattern)


def _pattern(program: str) -> str:
    return f"{program}?( +([{_PLAIN}]))"


@cache
def _programs() -> Mapping[str, str]:
    """The programs by their patterns."""
    table = read_only_table()
    return {_pattern(name): name for name in table.names | table.files}
