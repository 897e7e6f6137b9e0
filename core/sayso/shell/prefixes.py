"""Programs that may be known by their first words: ``tables/prefixes.toml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.sensitive.paths import is_installed, shows_secrets
from sayso.shell.checks import ProgramRow, rows_by_words
from sayso.shell.line import Command
from sayso.shell.options import Given, options
from sayso.tables import read_table

Prefix = tuple[str, ...]
"""The first words of a command, none of which has to be quoted."""

_WORDS = re.compile(r"-{0,2}[a-zA-Z0-9_.][a-zA-Z0-9_./:,=-]*")
_LEAVES = r".*(?:(?:^|/)\.\.(?:/|$|::)|://|(?:^|/)\.git(?:/|$))"
_OUTSIDE = re.compile(rf"[^a-zA-Z0-9_.]|{_LEAVES}", re.DOTALL | re.IGNORECASE)
_VALUE_OUTSIDE = re.compile(rf"[/~\\]|[A-Za-z]:[/\\]|{_LEAVES}", re.DOTALL | re.IGNORECASE)
_CONFIG = ConfigDict(extra="forbid")


@pydantic_dataclass(frozen=True, config=_CONFIG)
class PrefixRow(ProgramRow):
    """The options and operands that may follow a prefix without another question.

    Any other option ends it, and so do values of options that are not below the folder. The
    operands are ``none``, ``any``, paths ``below`` the folder, or ``held``: they are part of the
    prefix then, in their order, at least ``least`` of them, each of the pattern ``held``. No
    operand may lead to secrets, nor a path to hidden or installed files. Words after ``--`` are
    always held, and so are those of ``modes`` that are given: options with which the program does
    something else, such as to write instead of to check. Those of ``pinned`` are held with their
    values, in the order of the names. Of ``any`` operands those are held that the pattern
    ``whole`` matches. One of ``needs`` must be given.
    """

    operands: Literal["none", "any", "below", "held"] = "none"
    held: str = "names"
    needs: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    whole: str = ""
    least: int = 0

    def command_prefix(self, words: Prefix, command: Command, root: str) -> Prefix | None:
        """Return the first words and the other held ones; None if the row does not allow it."""
        known = options(self.options, self.one_dash)
        given = known.sort_out(command.arguments[len(words) - 1 :], command.patterns)
        if given is None or not self._takes(given, root, command):
            return None
        held = given.operands if self.operands == "held" else ()
        patterns = prefix_table().patterns
        whole: Prefix = ()
        if self.whole:
            whole = tuple(filter(patterns[self.whole].fullmatch, given.operands))
        if not all(map(patterns[self.held].fullmatch, held)) or not all(
            map(_WORDS.fullmatch, whole)
        ):
            return None
        names = {name for name, _ in given.options}
        pinned = self._write_pinned(given)
        if pinned is None:
            return None
        words = (*words, *(one for one in self.modes if one in names), *held, *whole, *pinned)
        if given.rest is None:
            return words
        return (*words, "--", *given.rest) if all(map(_WORDS.fullmatch, given.rest)) else None

    def _write_pinned(self, given: Given) -> Prefix | None:
        """Return the pinned options as written; None if a value would have to be quoted."""
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
        if not self.passes(given):
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
        texts = options(self.options, self.one_dash).texts
        return not any(
            _VALUE_OUTSIDE.match(value) and not is_below(value, root)
            for name, value in given.options
            if value and name not in texts
        )


@pydantic_dataclass(frozen=True, config=_CONFIG)
class PrefixTable:
    """The table, as it explains itself."""

    patterns: dict[str, re.Pattern[str]]
    shared: dict[str, str]
    commands: dict[str, dict[str, PrefixRow]]

    def __post_init__(self) -> None:
        """Check that each row names patterns that are there."""
        for row in self.all.values():
            if not {row.held, row.whole or row.held} <= self.patterns.keys():
                raise ValueError(f"held = {row.held!r} or whole = {row.whole!r} is no pattern")

    @cached_property
    def by_group(self) -> Mapping[str, Mapping[Prefix, PrefixRow]]:
        """The rows of each group by their first words."""
        return {name: rows_by_words(rows, self.shared) for name, rows in self.commands.items()}

    @cached_property
    def all(self) -> Mapping[Prefix, PrefixRow]:
        """The rows of all groups by their first words."""
        return {words: row for rows in self.by_group.values() for words, row in rows.items()}


@cache
def prefix_table() -> PrefixTable:
    """Read the table, once."""
    return read_table("sayso.shell", "tables/prefixes.toml", PrefixTable)


def is_below(path: str, root: str) -> bool:
    """Return True if a path leads to no place outside of the folder, by its words.

    An absolute path has to lead below ``root``. What git keeps for itself is outside, and so is
    what is hidden or installed: code that nobody who works on the project has read.
    """
    if root and path.startswith(f"{root.rstrip('/')}/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return not _OUTSIDE.match(path) and not is_installed(path)
