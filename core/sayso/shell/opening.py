"""What a table says of a program that may be known by its first words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sayso.shell.line import Command
from sayso.shell.options import Given, options

Beginning = tuple[str, ...]
"""The first words of a command, none of which has to be quoted."""

NAMES = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_./-]*")
SCRIPTS = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.:-]*")
_WORDS = re.compile(r"-{0,2}[a-zA-Z0-9_.][a-zA-Z0-9_./:,=-]*")
_OUTSIDE = re.compile(
    r"[^a-zA-Z0-9_.]|.*(?:(?:^|/)\.\.(?:/|$|::)|://|(?:^|/)\.git(?:/|$))",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Opening:
    """What may follow the first words of a command without another question.

    ``written`` are its options, see ``Options``; any other ends it, and so do values of options
    that are not below the folder. The operands are ``none``, ``any``, paths
    ``below`` the folder, or ``held``: they are part of what is known then, in their
    order. What follows ``--`` is always held, and so are those of ``modes`` that are given:
    options with which the program does something else, such as to write instead of to check.
    One of ``needs`` must be given.
    """

    written: str = ""
    operands: Literal["none", "any", "below", "held"] = "none"
    held: re.Pattern[str] = NAMES
    needs: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    check: Callable[[Given], bool] | None = None
    one_dash: bool = False

    def beginning(self, words: Beginning, command: Command, root: str) -> Beginning | None:
        """The first words, and what else is held; the command goes on after the words."""
        known = options(self.written, self.one_dash)
        given = known.sort_out(command.arguments[len(words) - 1 :], command.patterns)
        if given is None or not self._takes(given, root, command.patterns):
            return None
        held = given.operands if self.operands == "held" else ()
        if not all(map(self.held.fullmatch, held)):
            return None
        names = {name for name, _ in given.options}
        words = (*words, *(one for one in self.modes if one in names), *held)
        if given.rest is None:
            return words
        return (*words, "--", *given.rest) if all(map(_WORDS.fullmatch, given.rest)) else None

    def _takes(self, given: Given, root: str, patterns: bool) -> bool:
        if self.needs and not any(name in self.needs for name, _ in given.options):
            return False
        if self.check is not None and not self.check(given):
            return False
        if self.operands == "any":
            # A pattern that begins with a letter becomes no option.
            return not patterns or all(one[0] not in "*?[" for one in given.operands if one)
        if patterns or (self.operands == "none" and given.operands):
            return False
        return self.operands != "below" or all(is_below(one, root) for one in given.operands)


def is_below(path: str, root: str) -> bool:
    """Whether a path leads to no place outside of the folder, by its words.

    An absolute path has to lead below ``root``. What git keeps for itself is outside.
    """
    if root and path.startswith(f"{root.rstrip('/')}/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return not _OUTSIDE.match(path)
