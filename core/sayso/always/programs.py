"""Patterns that mean a program that can only look, and any plain words for it."""

from __future__ import annotations

import re

from sayso.shell.looks import LOOKING, READING

# No character that a shell acts on: none that quotes, expands (not even the % of Windows),
# redirects or ends a command, no white space but the space. No comma either: a list of
# strings is compared with commas between them, and must not look like one string.
_PLAIN = "a-zA-Z0-9 _./:=@+-"
_WORDS = re.compile(rf"([a-z]+)(?: [{_PLAIN}]+)?")
_PATTERNS = {name: f"{name}?( +([{_PLAIN}]))" for name in (*LOOKING, *READING)}
_NAMES = {pattern: name for name, pattern in _PATTERNS.items()}


def program_pattern(command: str) -> str | None:
    """The pattern that means any plain words for the program of this command line.

    None where the line is not one of plain words, or its program may do more than look.
    """
    found = _WORDS.fullmatch(command)
    return _PATTERNS.get(found[1]) if found else None


def program_of(pattern: str) -> str | None:
    """The program that a pattern of ``program_pattern`` is about; None for any other."""
    return _NAMES.get(pattern)
