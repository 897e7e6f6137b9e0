"""From the text of a glob to its parts.

The meanings are those of picomatch 4.0.7 with ``bash: true``, as its README and
the rows of ``tests/core/picomatch.json`` show them. Where they leave a meaning
open, the pattern is refused or read the narrow way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from assent.errors import ConfigError
from assent.glob_brackets import NeverError, bracket_set, escaped_set, range_set
from assent.glob_branch import AT_NAME, Before, Reading
from assent.glob_groups import brace_marks, closers, repeat
from assent.glob_parts import (
    FOLDERS,
    CarefulRun,
    Chain,
    Check,
    Either,
    Literal,
    Look,
    One,
    Part,
    Run,
    WordEdge,
    code_units,
)
from assent.glob_sets import ANY, DOT, NOT_SLASH, SEGMENT

MOST_UNITS = 65_536
MOST_PARTS = 1_000

# Nothing but text, * and ?: there a star does not step into a hidden name.
# A value of 10 kB takes some milliseconds with a repeated group of this length, and more with a
# longer one.
_LONGEST_REPEATED = 64
_GROUPS = ("!(", "?(", "*(", "+(", "@(")
_NOT_PLAIN = re.compile(r'^[*!]|[/()\[\]{}"]')
# In these a star after a dot or a slash takes at least one character.
_SHORT = {".*", "*.*", "*/*", "**/*", "**/*.*", "**/.*"}
# The rows show that a slash may follow these two.
_EXTENSION = re.compile(r"\*\*?\.\w+", re.ASCII)
_REST = re.compile(r"\.[^\\/.()]+")
_REPEATED = re.compile(r"[*+]\((?!\?)")


class Note(NamedTuple):
    """Something in a pattern that is worth a word: what kind of thing, and its spelling."""

    kind: str
    spelling: str


@dataclass(frozen=True)
class Parsed:
    """A pattern taken apart. Without a part it matches nothing."""

    part: Part | None
    negated: bool
    notes: tuple[Note, ...]


def parse(pattern: str) -> Parsed:
    """Take a pattern apart.

    Raises:
        ConfigError: it is empty, too long or too large, or its meaning is not clear.
    """
    if not pattern:
        raise ConfigError('an empty pattern matches nothing; write * for anything, """" for empty')
    source = pattern if max(pattern) <= "\uffff" else code_units(pattern)
    if len(source) > MOST_UNITS:
        text = f"the pattern has {len(source)} characters, {MOST_UNITS} are allowed; shorten it"
        raise ConfigError(text)
    bangs = _bangs(source)
    body = source[bangs:]
    notes = [Note("negation", "!")] if bangs % 2 else []
    if body.startswith("./"):
        body = body[2:]
        notes.append(Note("here", "./"))
        if body.startswith(("!", "./")):
            raise ConfigError("the pattern goes on with ! or ./ after ./ ; leave the first ./ out")
    parser = _Parser(body, plain=not bangs, odd=bangs % 2 == 1, notes=notes)
    try:
        part: Part | None = parser.whole()
    except NeverError:
        part = None
    return Parsed(part, bangs % 2 == 1, tuple(notes))


def _bangs(source: str) -> int:
    count = 0
    while source.startswith("!", count) and not _opens(source, count):
        count += 1
    return count


def _opens(source: str, at: int) -> bool:
    """Whether the sign at ``at`` begins an extglob."""
    if not source.startswith("(", at + 1):
        return False
    if source[at] == "!":
        return not re.compile(r"\?[:=!<]").match(source, at + 2)
    return not source.startswith("?", at + 2)


_MARKS = {"/": Before.SLASH, ".": Before.DOT}


class _Parser:
    def __init__(self, source: str, *, plain: bool, odd: bool, notes: list[Note]) -> None:
        self.source = source
        self.at = 0
        self.notes = notes
        self.odd = odd
        self.short = plain and source in _SHORT
        self.slash_may_follow = plain and _EXTENSION.fullmatch(source) is not None
        self.plain = (plain and not self.short and not _NOT_PLAIN.search(source)) or (
            self.slash_may_follow and source.startswith("**.")
        )
        self.bars = not plain or _NOT_PLAIN.search(source) is not None
        self.ends = closers(source)
        self.literal_ends: set[int] = set()
        self.parens = 0
        self.size = 0
        self.last = Before.NOTHING
        self.members = ANY
        self._readers = {
            "*": self._star,
            "?": self._question,
            "+": self._plus,
            "[": self._bracket,
            "{": self._brace,
            '"': self._quote,
            "\\": self._backslash,
            "(": self._paren,
        }

    def whole(self) -> Part:
        part = self._choice("", Before.NOTHING, at_name=True)
        if self.source[:2] in _GROUPS and not self.odd:
            # Whatever the group takes: a value does not begin with a line break.
            part = Chain((Check(ANY, wanted=True), part))
        if self.slash_may_follow or self.last in (Before.BRACKET, Before.PLUS):
            part = Chain((part, Either((Literal(""), Literal("/")))))
        return part

    def _choice(self, stops: str, before: Before, *, at_name: bool) -> Part:
        """Branches up to a stop, which is left for the caller."""
        # A pattern of words, stars and question marks alone has no branches: `a*|b` has a bar.
        bar = "|" if stops or self.bars else ""
        branches: list[Part] = []
        while True:
            run = Reading(before, at_name)
            while not self._stands_at(bar + stops):
                had = len(run.parts)
                self._item(run)
                self._grow(len(run.parts) - had)
            self.last = run.before
            branches.append(run.finished())
            self._grow(1)
            separators = bar + stops.replace(")", "").replace("}", "")
            if self.at == len(self.source) or self.source[self.at] not in separators:
                return Either(tuple(branches)) if len(branches) > 1 else branches[0]
            if not stops:
                self.notes.append(Note("branches", "|"))
            before = Before.BRANCH
            self.at += 1

    def _stands_at(self, stops: str) -> bool:
        if self.at == len(self.source):
            return True
        return self.source[self.at] in stops and self.at not in self.literal_ends

    def _grow(self, parts: int) -> None:
        self.size += parts
        if self.size > MOST_PARTS:
            text = f"the pattern has more than {MOST_PARTS} parts; write several patterns"
            raise ConfigError(text)

    def _item(self, run: Reading) -> None:
        char = self.source[self.at]
        if char in "?*+@!" and _opens(self.source, self.at):
            self._extglob(run)
        elif read := self._readers.get(char):
            read(run)
        else:
            run.spell(char, _MARKS.get(char, Before.TEXT))
            self.at += 1

    def _star(self, run: Reading) -> None:
        first = self.at
        while self.source.startswith("*", self.at) and not _opens(self.source, self.at):
            self.at += 1
        after = self.source[self.at : self.at + 1]
        alone = run.before in AT_NAME and after in ("", "/")
        if self.at - first == 2 and alone and not self.plain:
            self._globstar(run, after)
            return
        self._no_dot(run)
        if self.short and run.before in (Before.DOT, Before.SLASH):
            run.add(Check(ANY, wanted=True), run.before)
        run.add(CarefulRun() if self.plain else Run(ANY), Before.STAR)

    def _globstar(self, run: Reading, after: str) -> None:
        """``**`` alone between slashes: any number of names, with the slash that ends them."""
        if after:
            self.at += 1
            run.add(FOLDERS, Before.SLASH)
        elif run.letters:
            run.letters.pop()
            below = Chain((Literal("/"), CarefulRun()))
            run.add(Either((Literal(""), below)), Before.STAR)
        else:
            run.add(CarefulRun(), Before.STAR)

    def _no_dot(self, run: Reading) -> None:
        """A hidden name needs its dot in the pattern.

        The rows do not show whether that holds in a group that begins a name.
        It is the narrow reading, so it does, except where narrow would widen.
        """
        if run.before in AT_NAME or (run.begins_name() and not self.odd):
            run.add(Check(DOT, wanted=False), run.before)

    def _question(self, run: Reading) -> None:
        if run.before is Before.OPENING:
            run.spell("?")
        elif run.before is Before.GROUP:
            raise ConfigError("the pattern has a ? after a ), which is not clear; write ?(...)")
        else:
            self._no_dot(run)
            run.add(One(NOT_SLASH), Before.TEXT)
        self.at += 1

    def _plus(self, run: Reading) -> None:
        unclear = {Before.GROUP, Before.BRACE, Before.PLUS}
        if run.before is Before.BRACKET:
            run.add(Run(self.members), Before.PLUS)
        elif self.parens or run.before in unclear:
            raise ConfigError("the pattern has a + whose meaning is not clear; write \\+ or +(...)")
        else:
            run.spell("+")
        self.at += 1

    def _bracket(self, run: Reading) -> None:
        end = self.ends.get(self.at)
        if end is None:
            run.spell("[")
            self.at += 1
            return
        spelling = self.source[self.at : end + 1]
        self.members = bracket_set(spelling[1:-1])
        if spelling.startswith("[!"):
            self.notes.append(Note("bang", spelling))
        if run.before is Before.NOTHING:
            run.add(Check(ANY, wanted=True), run.before)
        one: Part = One(self.members)
        # The reference may also take a set as literal text; behind a negation that must count.
        run.add(Either((one, Literal(spelling))) if self.odd else one, Before.BRACKET)
        self.at = end + 1

    def _brace(self, run: Reading) -> None:
        start = self.at
        end = self.ends.get(start)
        comma, dots = brace_marks(self.source, start, self.ends) if end else (False, False)
        if end is None or not (comma or dots):
            run.spell("{")
            self.literal_ends.add(end or 0)
            self.at += 1
        elif dots:
            self._range(run, self.source[start : end + 1], comma=comma)
            self.at = end + 1
        else:
            self.at += 1
            at_name = run.begins_name()
            run.add(self._choice(",}", Before.BRANCH, at_name=at_name), Before.BRACE)
            self.at += 1

    def _range(self, run: Reading, spelling: str, *, comma: bool) -> None:
        members = None if comma else range_set(spelling[1:-1])
        if members is None:
            text = (
                f"the pattern holds {spelling}, which is neither a range of single characters "
                "nor a list; write a list, as in {8,9,10}"
            )
            raise ConfigError(text)
        self.notes.append(Note("range", spelling))
        run.add(One(members), Before.BRACE)

    def _quote(self, run: Reading) -> None:
        end = self.source.index('"', self.at + 1)
        run.spell(self.source[self.at + 1 : end])
        self.notes.append(Note("quotes", self.source[self.at : end + 1]))
        self.at = end + 1

    def _backslash(self, run: Reading) -> None:
        after = self.source[self.at + 1 : self.at + 2]
        if after in ("b", "B"):
            run.add(WordEdge(wanted=after == "b"), Before.TEXT)
            self.notes.append(Note("escape", "\\" + after))
            self.at += 2
        elif not after:
            run.spell("\\")
            self.at += 1
        elif after.isascii() and after.isalnum():
            members, self.at = escaped_set(self.source, self.at)
            run.add(One(members), Before.TEXT)
            self.notes.append(Note("escape", "\\" + after))
        else:
            run.spell(after, Before.SLASH if after == "/" else Before.TEXT)
            self.at += 2

    def _paren(self, run: Reading) -> None:
        looks = {"(?:": None, "(?=": True, "(?!": False}
        opening = self.source[self.at : self.at + 3]
        if opening.startswith("(?<"):
            raise ConfigError("the pattern holds (?<, which is not supported; write \\( for a (")
        wanted = looks.get(opening)
        self.at += 3 if opening in looks else 1
        self.odd ^= wanted is False
        part = self._inside(run.begins_name())
        self.odd ^= wanted is False
        if wanted is not None:
            part = Look(part, wanted=wanted, to_end=False)
            self.notes.append(Note("look", opening))
        run.add(part, Before.GROUP)

    def _inside(self, at_name: bool) -> Part:
        """What is between the parentheses; the closing one is taken."""
        self.parens += 1
        part = self._choice(")", Before.OPENING, at_name=at_name)
        self.parens -= 1
        self.at += 1
        return part

    def _extglob(self, run: Reading) -> None:
        sign = self.source[self.at]
        close = self.ends[self.at + 1]
        inner = self.source[self.at + 2 : close]
        if sign in "*+" and _REPEATED.search(inner):
            self._literal_repetition(run, f"{sign}({inner})")
            return
        at_name = run.begins_name()
        inside = range(self.at + 2, close)
        self.at += 2
        if sign == "!":
            self.odd = not self.odd
            part = self._inside(at_name)
            self.odd = not self.odd
            self.notes.append(Note("not", f"!({inner})"))
            run.add(self._anything_but(part, inner), Before.GROUP)
            return
        part = self._inside(at_name and sign not in "*+")
        if sign in "*+":
            if len(inner) > _LONGEST_REPEATED:
                raise ConfigError(
                    f"the pattern repeats a group of {len(inner)} characters, "
                    f"{_LONGEST_REPEATED} are allowed; write several rules"
                )
            grouped = any(at in self.ends and self.source[at] in "({" for at in inside)
            part = repeat(sign, inner, part, grouped=grouped)
            if isinstance(part, Literal) and part.text:
                self.notes.append(Note("risky", part.text))
        elif sign == "?":
            part = Either((Literal(""), part))
        run.add(part, Before.GROUP)

    def _literal_repetition(self, run: Reading, spelling: str) -> None:
        if "\\" in spelling or '"' in spelling:
            raise ConfigError(f"the pattern repeats a repetition, {spelling}; write it without")
        self.notes.append(Note("risky", spelling))
        run.add(Literal(spelling), Before.GROUP)
        self.at += len(spelling)

    def _anything_but(self, part: Part, inner: str) -> Part:
        """``!(inner)``. To the end of the pattern it forbids exactly ``inner``.

        Before more pattern it forbids whatever begins with ``inner``, and takes
        no slash; before an extension, ``inner`` includes the extension.
        """
        rest = self.source[self.at :]
        if not rest.strip(")"):
            return Chain((Look(part, wanted=False, to_end=True), CarefulRun()))
        if "*" in inner and not self.parens and _REST.fullmatch(rest):
            after = _Parser(rest, plain=False, odd=not self.odd, notes=[])
            part = Chain((part, after._choice("", Before.TEXT, at_name=False)))
            filler = Run(NOT_SLASH if self.odd else SEGMENT)
            return Chain((Look(part, wanted=False, to_end=False), filler))
        return Chain((Look(part, wanted=False, to_end=False), Run(NOT_SLASH)))
