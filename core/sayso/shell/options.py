"""Which options a program may be given: those of a list, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

_NUMBER = re.compile(r"-[0-9]+")
# A value that looks like an option may be taken for one, unless it is a number; those of find
# may have a unit: `-size -10k`.
_NO_OPTION = re.compile(r"(?!-).*|-|-[0-9]+", re.DOTALL)
_NO_NAME = re.compile(r"(?!-).*|-|-[0-9]+[a-zA-Z]?", re.DOTALL)
# With these a word may become none, or several; a value that does makes others of what follows.
_MAY_MATCH = re.compile(r"[*?\[^~]")


class Given(NamedTuple):
    """What a program was given: its options with their values, and the rest."""

    options: tuple[tuple[str, str | None], ...]
    operands: tuple[str, ...]
    mixed: bool = False
    """Whether an option comes after an operand."""
    rest: tuple[str, ...] | None = None
    """What stands after ``--``; None without it."""

    def values(self, *names: str) -> list[str]:
        """The values of these options, in their order."""
        return [value for name, value in self.options if name in names and value is not None]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a list, such as ``-abc -n: -# --all --color? --sort= --``.

    ``-abc`` are letters that take nothing and stand together or alone, ``-n:`` is a letter with
    a value, ``-#`` is any number. ``--all`` takes nothing, ``--sort=`` a value, behind the sign
    or as the next word, ``--color?`` one behind the sign or none. ``-m*`` and ``--title*`` are
    as ``-m:`` and ``--title=``, with any words at all as their value. ``-L+`` is a letter
    whose value is the next word, never what stands at it. ``--`` may be
    followed by what is no option, ``--*`` by anything.
    With ``one_dash`` a word with one dash is a name as any other: ``-name= -print``.
    """

    alone: frozenset[str]
    valued: frozenset[str]
    texts: frozenset[str]
    apart: frozenset[str]
    optional: frozenset[str]
    numbers: bool
    ends: bool
    one_dash: bool

    def sort_out(self, arguments: Sequence[str], patterns: bool = False) -> Given | None:
        """What was given; None where anything is not of the list, or can be read in two ways.

        With ``patterns`` words may become the names that they match: no value may do so.
        """
        given = self._sorted(arguments)
        if patterns and given is not None:
            values = {value for _, value in given.options}
            if any(one in values for one in arguments if _MAY_MATCH.search(one)):
                return None
        return given

    def _sorted(self, arguments: Sequence[str]) -> Given | None:
        options: list[tuple[str, str | None]] = []
        operands: list[str] = []
        mixed = False
        words = iter(arguments)
        for word in words:
            if word[:1] != "-" or word == "-":
                operands.append(word)
                continue
            mixed |= bool(operands)
            if word == "--":
                rest = tuple(words)
                plain = self.ends and not any(one[:1] == "-" for one in rest)
                ends = plain or "--" in self.texts
                return Given(tuple(options), tuple(operands), mixed, rest) if ends else None
            if self._stands_alone(word):
                options.append((word, None))
            elif word[1] == "-" or self.one_dash:
                if not self._named(word, words, options):
                    return None
            elif not self._letters(word, words, options):
                return None
        return Given(tuple(options), tuple(operands), mixed)

    def _stands_alone(self, word: str) -> bool:
        return (
            word in self.alone
            or word in self.optional
            or (self.numbers and _NUMBER.fullmatch(word) is not None)
        )

    def _named(
        self, word: str, words: Iterator[str], options: list[tuple[str, str | None]]
    ) -> bool:
        name, sign, value = word.partition("=")
        if sign:
            options.append((name, value))
            return name in self.valued or name in self.optional
        return self._valued(name, words, options)

    def _letters(
        self, word: str, words: Iterator[str], options: list[tuple[str, str | None]]
    ) -> bool:
        for at, letter in enumerate(word[1:], 1):
            name = f"-{letter}"
            if name in self.alone:
                options.append((name, None))
            elif rest := word[at + 1 :]:
                options.append((name, rest))
                return name in self.valued and name not in self.apart
            else:
                return self._valued(name, words, options)
        return True

    def _valued(
        self, name: str, words: Iterator[str], options: list[tuple[str, str | None]]
    ) -> bool:
        value = next(words, None) if name in self.valued else None
        options.append((name, value))
        if value is None or (name in self.apart and value[:1] == "-"):
            return False
        plain = _NO_NAME if self.one_dash else _NO_OPTION
        return name in self.texts or plain.fullmatch(value) is not None


@cache
def options(written: str, one_dash: bool = False) -> Options:
    """The options that are written like that, see ``Options``."""
    names = written.split()
    letters = re.compile(r"-[a-zA-Z0-9]+")
    alone: set[str] = set()
    for name in names:
        if letters.fullmatch(name) and not one_dash:
            alone |= {f"-{letter}" for letter in name[1:]}
        elif name[-1] not in ":=?*+#" and name != "--":
            alone.add(name)
    return Options(
        frozenset(alone),
        frozenset(name[:-1] for name in names if name[-1] in ":=*+"),
        frozenset(name[:-1] for name in names if name[-1] == "*"),
        frozenset(name[:-1] for name in names if name[-1] == "+"),
        frozenset(name[:-1] for name in names if name[-1] == "?"),
        "-#" in names,
        "--" in names,
        one_dash,
    )
