"""The body of a glob, sign by sign, as parts."""

from __future__ import annotations

import re

from sayso.errors import ConfigError
from sayso.globs.brackets import bracket_set, escaped_set, like_a_class, names_class, range_set
from sayso.globs.branch import AT_NAME, Before, Reading
from sayso.globs.groups import brace_marks, closers, repeat
from sayso.globs.notes import DangerKind, Note
from sayso.globs.parts import (
    FOLDERS,
    CarefulRun,
    Chain,
    Check,
    Either,
    End,
    Literal,
    Look,
    One,
    Part,
    Run,
    WordEdge,
    chars_of,
)
from sayso.globs.quotes import quotes, refuse_in_literal_brace
from sayso.globs.sets import ANY, DOT, NOT_SLASH, CharSet
from sayso.globs.signs import (
    ALSO_TEXT,
    EXTENSION,
    FOLDERS_AGAIN,
    GROUPS,
    KNOWN_LITERAL,
    NOT_PLAIN,
    RANGE,
    REPEATED,
    REST,
    SHORT,
    TAKES_SOMETHING,
    after_star,
    opens,
)

MOST_PARTS = 1_000

# A value of 10 kB takes a few milliseconds with a repeated group of this length, and more with a
# longer one.
_LONGEST_REPEATED = 64
# Each of these costs a pass over the value.
_MOST_SETS = 50
_MOST_REPEATED = 16
_SLASH_MAY_FOLLOW = Either((Literal(""), Literal("/")))
_MARKS = {"/": Before.SLASH, ".": Before.DOT}


class Reader:
    """Reads one pattern after its leading ``!`` and ``./``.

    ``whole`` raises ConfigError where the meaning is not clear, NeverError
    where nothing can match.
    """

    def __init__(self, source: str, *, plain: bool, odd: bool, notes: list[Note]) -> None:
        self.source = source
        self.at = 0
        self.notes = notes
        self.odd = odd
        self.short = plain and source in SHORT
        self.slash_may_follow = plain and EXTENSION.fullmatch(source) is not None
        self.plain = (plain and not self.short and not NOT_PLAIN.search(source)) or (
            self.slash_may_follow and source.startswith("**.")
        )
        self.bars = not plain or NOT_PLAIN.search(source) is not None
        self.quotes = quotes(source)
        self.ends = closers(source, self.quotes)
        self.literal_ends: set[int] = set()
        self.open_bracket = False
        self.parens = 0
        self.size = 0
        self.members = ANY
        self.sets: set[CharSet] = set()
        self.repeats = 0
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
        """All of the pattern."""
        part = self.choice("", Before.NOTHING)
        if self.source[:2] in GROUPS and not self.odd:
            # Whatever the group takes: a value does not begin with a line break.
            part = Chain((Check(ANY, wanted=True), part))
        return Chain((part, _SLASH_MAY_FOLLOW)) if self.slash_may_follow else part

    def choice(self, stops: str, before: Before) -> Part:
        """Branches up to a stop, which is left for the caller."""
        # A pattern of words, stars and question marks alone has no branches: `a*|b` has a bar.
        bar = "|" if stops or self.bars else ""
        branches: list[Part] = []
        while True:
            run = Reading(before)
            while not self._stands_at(bar + stops):
                had = len(run.parts)
                self._item(run)
                self._grow(len(run.parts) - had)
            if not stops and self.at == len(self.source) and run.before is Before.BRACKET:
                run.add(_SLASH_MAY_FOLLOW, Before.TEXT)
            branches.append(run.finished())
            self._grow(1)
            separators = bar + stops.replace(")", "").replace("}", "")
            if self.at == len(self.source) or self.source[self.at] not in separators:
                return Either(tuple(branches)) if len(branches) > 1 else branches[0]
            if not stops:
                self.notes.append(Note(DangerKind.WHOLE_BRANCHES, "|"))
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

    def _few(self, count: int, most: int, what: str) -> None:
        if count > most:
            raise ConfigError(f"the pattern has more than {most} {what}; write several patterns")

    def _item(self, run: Reading) -> None:
        char = self.source[self.at]
        if char in "?*+@!" and self._opens_here(run):
            self._extglob(run)
        elif read := self._readers.get(char):
            read(run)
        else:
            run.spell(char, _MARKS.get(char, Before.TEXT))
            self.at += 1

    def _opens_here(self, run: Reading) -> bool:
        asks = self.source[self.at] == "?" and run.before is Before.OPENING
        return not asks and opens(self.source, self.at)

    def _star(self, run: Reading) -> None:
        first = self.at
        while self.source.startswith("*", self.at) and not opens(self.source, self.at):
            self.at += 1
        after = self.source[self.at : self.at + 1]
        alone = run.before in AT_NAME and after in ("", "/")
        if self.at - first == 2 and alone and not self.plain:
            self._globstar(run, first)
            return
        self._no_dot(run)
        if self.short and run.before in (Before.DOT, Before.SLASH):
            run.add(Check(ANY, wanted=True), run.before)
        run.add(CarefulRun() if self.plain else Run(ANY), Before.STAR)

    def _globstar(self, run: Reading, first: int) -> None:
        """``**`` alone between slashes: any number of names, with the slash that ends them.

        Right after a slash that begins the pattern, and at the end after a star,
        it does not stand for no name at all.
        """
        if again := FOLDERS_AGAIN.match(self.source, self.at):
            self.at = again.end()
        rooted = first == 1 and self.source.startswith("/")
        if self.at < len(self.source):
            self.at += 1
            self._folders(run, rooted=rooted)
        elif run.letters and not rooted and not after_star(run):
            run.letters.pop()
            below = Chain((Literal("/"), CarefulRun()))
            run.add(Either((Literal(""), below)), Before.STAR)
        else:
            run.add(CarefulRun(), Before.STAR)

    def _folders(self, run: Reading, *, rooted: bool) -> None:
        """``**/``. Where nothing need follow, the reference lets the slash before it out, too."""
        if rooted:
            run.add(Chain((CarefulRun(), Literal("/"))), Before.SLASH)
        elif not run.letters or self.at == len(self.source) or self._more():
            run.add(FOLDERS, Before.SLASH)
        else:
            run.letters.pop()
            run.add(Either((Chain((Literal("/"), FOLDERS)), End())), Before.SLASH)

    def _more(self) -> bool:
        """Whether it is plain to see that the rest takes a character."""
        return TAKES_SOMETHING.match(self.source, self.at) is not None

    def _no_dot(self, run: Reading) -> None:
        """A hidden name needs its dot in the pattern; in a group that begins a name it does not."""
        if run.before in AT_NAME:
            run.add(Check(DOT, wanted=False), run.before)

    def _question(self, run: Reading) -> None:
        if run.before is Before.OPENING:
            run.spell("?")
        elif run.before is Before.GROUP:
            raise ConfigError(
                "the pattern has a ? after a ), whose meaning is not clear; write ?(...)"
            )
        else:
            self._no_dot(run)
            run.add(One(NOT_SLASH), Before.TEXT)
        self.at += 1

    def _plus(self, run: Reading) -> None:
        unclear = {Before.GROUP, Before.BRACE, Before.PLUS}
        if run.before is Before.BRACKET:
            run.add(Run(self.members), Before.PLUS)
        elif self.parens or run.before in unclear or self.source[: self.at].endswith(("{", "}")):
            raise ConfigError("the pattern has a + whose meaning is not clear; write \\+ or +(...)")
        else:
            run.spell("+")
        self.at += 1

    def _bracket(self, run: Reading) -> None:
        end = self.ends.get(self.at)
        if end is None:
            self.open_bracket = True
            self.notes.append(Note(DangerKind.OPEN_BRACKET, "["))
            self.members = chars_of("[")
            run.spell("[", Before.BRACKET)
            self.at += 1
            return
        spelling = self.source[self.at : end + 1]
        self.members = bracket_set(spelling[1:-1])
        self.sets.add(self.members)
        self._few(len(self.sets), _MOST_SETS, "different sets of characters")
        if spelling.startswith("[!"):
            self.notes.append(Note(DangerKind.BANG_IN_SET, spelling))
        elif like_a_class(spelling):
            self.notes.append(Note(DangerKind.NO_CLASS, spelling))
        if run.before is Before.NOTHING and names_class(spelling):
            run.add(Check(ANY, wanted=True), run.before)
        one: Part = One(self.members)
        # The reference may also take a set as literal text; behind a negation that must count.
        unsure = self.odd and ("\\" in spelling or names_class(spelling))
        literal = unsure or ALSO_TEXT.fullmatch(spelling)
        run.add(Either((Literal(spelling), one)) if literal else one, Before.BRACKET)
        self.at = end + 1

    def _brace(self, run: Reading) -> None:
        start = self.at
        end = self.ends.get(start)
        comma, dots = (
            brace_marks(self.source, start, self.ends, self.quotes) if end else (False, False)
        )
        if end is None or not (comma or dots):
            refuse_in_literal_brace(self.source[start : end or start])
            run.spell("{")
            self.literal_ends.add(end or 0)
            self.at += 1
        elif dots:
            self._range(run, self.source[start : end + 1], comma=comma)
            self.at = end + 1
        else:
            self.at += 1
            run.add(self.choice(",}", Before.BRANCH), Before.BRACE)
            self.at += 1

    def _range(self, run: Reading, spelling: str, *, comma: bool) -> None:
        clear = not comma and RANGE.fullmatch(spelling[1:-1])
        members = range_set(spelling[1:-1]) if clear else None
        if members is None:
            text = (
                f"the pattern holds {spelling}, which is neither a range of single characters "
                "nor a list; write a list, as in {8,9,10}"
            )
            raise ConfigError(text)
        self.notes.append(Note(DangerKind.RANGE_AS_SET, spelling))
        run.add(One(members), Before.BRACE)

    def _quote(self, run: Reading) -> None:
        end = self.quotes.get(self.at)
        if end is None:
            run.spell('"')
            self.at += 1
            return
        run.spell(self.source[self.at + 1 : end])
        self.notes.append(Note(DangerKind.QUOTES, self.source[self.at : end + 1]))
        self.at = end + 1

    def _backslash(self, run: Reading) -> None:
        after = self.source[self.at + 1 : self.at + 2]
        if after in ("b", "B"):
            run.add(WordEdge(wanted=after == "b"), Before.TEXT)
            self.notes.append(Note(DangerKind.ESCAPE, "\\" + after))
            self.at += 2
        elif not after:
            run.spell("\\")
            self.at += 1
        elif after.isascii() and after.isalnum():
            members, self.at = escaped_set(self.source, self.at)
            run.add(One(members), Before.TEXT)
            self.notes.append(Note(DangerKind.ESCAPE, "\\" + after))
        else:
            run.spell(after)
            self.at += 2

    def _paren(self, run: Reading) -> None:
        looks = {"(?:": None, "(?=": True, "(?!": False}
        opening = self.source[self.at : self.at + 3]
        if opening.startswith("(?<"):
            raise ConfigError("the pattern holds (?<, which is not supported; write \\( for a (")
        wanted = looks.get(opening)
        self.at += 3 if opening in looks else 1
        self.odd ^= wanted is False
        part = self._inside(Before.OPENING if wanted is None and opening != "(?:" else Before.TEXT)
        self.odd ^= wanted is False
        if wanted is not None:
            part = Look(part, wanted=wanted, to_end=False)
            self.notes.append(Note(DangerKind.LOOKS_AHEAD, opening))
        run.add(part, Before.GROUP)

    def _inside(self, before: Before = Before.OPENING) -> Part:
        """What is between the parentheses; the closing one is taken."""
        self.parens += 1
        part = self.choice(")", before)
        self.parens -= 1
        self.at += 1
        return part

    def _extglob(self, run: Reading) -> None:
        sign = self.source[self.at]
        close = self.ends[self.at + 1]
        inner = self.source[self.at + 2 : close]
        if sign in "*+" and REPEATED.search(inner):
            self._literal_repetition(run, f"{sign}({inner})")
            return
        inside = range(self.at + 2, close)
        self.at += 2
        if sign == "!":
            self.odd = not self.odd
            part = self._inside()
            self.odd = not self.odd
            self.notes.append(Note(DangerKind.ANYTHING_BUT, f"!({inner})"))
            run.add(self._anything_but(part, inner), Before.GROUP)
            return
        part = self._inside()
        if sign in "*+":
            if len(inner) > _LONGEST_REPEATED:
                raise ConfigError(
                    f"the pattern repeats a group of {len(inner)} characters, "
                    f"{_LONGEST_REPEATED} are allowed; write several rules"
                )
            grouped = any(at in self.ends and self.source[at] in "({" for at in inside)
            self.repeats += 1
            self._few(self.repeats, _MOST_REPEATED, "repeated groups")
            part = repeat(sign, inner, part, grouped=grouped)
            if isinstance(part, Literal) and part.text:
                self.notes.append(Note(DangerKind.TEXT_AFTER_ALL, part.text))
        elif sign == "?":
            part = Either((Literal(""), part))
        elif isinstance(part, Literal) and "\\" in inner:
            run.spell(part.text, Before.GROUP)
            return
        run.add(part, Before.GROUP)

    def _literal_repetition(self, run: Reading, spelling: str) -> None:
        if not KNOWN_LITERAL.fullmatch(spelling):
            raise ConfigError(f"the pattern repeats a repetition, {spelling}; write it without")
        self.notes.append(Note(DangerKind.TEXT_AFTER_ALL, spelling))
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
        if "*" in inner and REST.fullmatch(rest):
            sides = "|" in re.sub(r"\([^()]*\)", "", rest)
            if sides or self.parens or re.search(r"\(.*\*", inner):
                raise ConfigError(
                    f"it is not clear what !({inner}) means here; write several rules"
                )
            after = Reader(rest, plain=False, odd=not self.odd, notes=[])
            part = Chain((part, after.choice("", Before.TEXT)))
            return Chain((Look(part, wanted=False, to_end=False), CarefulRun()))
        return Chain((Look(part, wanted=False, to_end=False), Run(NOT_SLASH)))
