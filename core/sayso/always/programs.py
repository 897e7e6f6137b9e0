"""Programs that can only look, whatever their arguments, and the patterns that mean one of them.

A program is here only if no argument of it makes it run another program or
change anything, as GNU, BusyBox, the BSDs and macOS ship it: so not ``date``
(``-s`` sets the clock), ``sort`` (``-o`` writes), ``uniq`` (its second file is
written), ``file`` (``-C`` writes), ``find``, ``git`` and ``tar`` (they run
others), ``printf`` (``-v`` sets a variable of the shell). What is not here is
not offered: a tool that knows better declares ``derive_permission``.
"""

from __future__ import annotations

import re

LOOKING = (
    "basename",
    "df",
    "dirname",
    "echo",
    "id",
    "ls",
    "pwd",
    "readlink",
    "realpath",
    "stat",
    "whoami",
)
"""They show names, numbers and their own arguments."""

READING = ("cat", "du", "head", "tail", "wc")
"""They show what stands in files, all of it or, by ``--files0-from``, in error messages."""

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
