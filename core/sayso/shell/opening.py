"""What a table says of a program that may be known by its first words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sayso.sensitive.paths import is_installed, shows_secrets
from sayso.shell.line import Command
from sayso.shell.options import Given, options

Beginning = tuple[str, ...]
"""The first words of a command, none of which has to be quoted."""

NAMES = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_./-]*")
SCRIPTS = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.:-]*")
_WORDS = re.compile(r"-{0,2}[a-zA-Z0-9_.][a-zA-Z0-9_./:,=-]*")
_LEAVES = r".*(?:(?:^|/)\.\.(?:/|$|::)|://|(?:^|/)\.git(?:/|$))"
_OUTSIDE = re.compile(rf"[^a-zA-Z0-9_.]|{_LEAVES}", re.DOTALL | re.IGNORECASE)
_VALUE_OUTSIDE = re.compile(rf"[/~\\]|[A-Za-z]:[/\\]|{_LEAVES}", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opening:
    """What may follow the first words of a command without another question.

    ``written`` are its options, see ``Options``; any other ends it, and so do values of options
    that are not below the folder. The operands are ``none``, ``any``, paths
    ``below`` the folder, or ``held``: they are part of what is known then, in their
    order, at least ``least`` of them. No operand may lead to secrets, nor a path to what is hidden
    or installed. What follows ``--`` is always held, and so are those of ``modes`` that are given:
    options with which the program does something else, such as to write instead of to check.
    Those of ``pinned`` are held with their values, in the order of the names. Of ``any``
    operands those are held that ``whole`` matches.
    One of ``needs`` must be given.
    """

    written: str = ""
    operands: Literal["none", "any", "below", "held"] = "none"
    held: re.Pattern[str] = NAMES
    needs: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    whole: re.Pattern[str] | None = None
    least: int = 0
    check: Callable[[Given], bool] | None = None
    one_dash: bool = False

    def beginning(self, words: Beginning, command: Command, root: str) -> Beginning | None:
        """The first words, and what else is held; the command goes on after the words."""
        known = options(self.written, self.one_dash)
        given = known.sort_out(command.arguments[len(words) - 1 :], command.patterns)
        if given is None or not self._takes(given, root, command):
            return None
        held = given.operands if self.operands == "held" else ()
        whole = tuple(filter(self.whole.fullmatch, given.operands)) if self.whole else ()
        if not all(map(self.held.fullmatch, held)) or not all(map(_WORDS.fullmatch, whole)):
            return None
        names = {name for name, _ in given.options}
        pinned = self._write_pinned(given)
        if pinned is None:
            return None
        words = (*words, *(one for one in self.modes if one in names), *held, *whole, *pinned)
        if given.rest is None:
            return words
        return (*words, "--", *given.rest) if all(map(_WORDS.fullmatch, given.rest)) else None

    def _write_pinned(self, given: Given) -> Beginning | None:
        """The pinned options as they are written; None where a value would have to be quoted."""
        words: list[str] = []
        for name, value in sorted(given.options, key=lambda option: option[0]):
            if name not in self.pinned:
                continue
            if value is None:
                words.append(name)
            else:
                words += [f"{name}={value}"] if name[:2] == "--" else [name, value]
        return tuple(words) if all(map(_WORDS.fullmatch, words)) else None

    def _takes(self, given: Given, root: str, command: Command) -> bool:
        patterns = command.patterns
        expands = patterns or command.program == "git"  # which takes stars by itself
        if self.needs and not any(name in self.needs for name, _ in given.options):
            return False
        if self.check is not None and not self.check(given):
            return False
        if len(given.operands) < self.least or not self._takes_values(given, root):
            return False
        if any(shows_secrets(one, expands=expands) for one in given.operands):
            return False
        if self.operands == "any":
            # A pattern that begins with a letter becomes no option.
            return not patterns or all(one[0] not in "*?[" for one in given.operands if one)
        if patterns or (self.operands == "none" and given.operands):
            return False
        return self.operands != "below" or all(is_below(one, root) for one in given.operands)

    def _takes_values(self, given: Given, root: str) -> bool:
        texts = options(self.written, self.one_dash).texts
        return not any(
            _VALUE_OUTSIDE.match(value) and not is_below(value, root)
            for name, value in given.options
            if value and name not in texts
        )


def is_below(path: str, root: str) -> bool:
    """Whether a path leads to no place outside of the folder, by its words.

    An absolute path has to lead below ``root``. What git keeps for itself is outside, and so is
    what is hidden or installed: code that nobody who works on the project has read.
    """
    if root and path.startswith(f"{root.rstrip('/')}/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return not _OUTSIDE.match(path) and not is_installed(path)
