"""Read globs into parts, exactly as picomatch 4.0.7 with ``bash: true``, or refuse them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sayso.errors import ConfigError
from sayso.rules.glob_to_regex import (
    BREAKS,
    Branch,
    Branches,
    Group,
    Node,
    Range,
    Set,
    Sign,
    Star,
    Text,
    code_units,
)

MAX_UNITS = 65_536
_MAX_DEPTH = 40

# Without these there is but text, * and ?: the reference reads such a pattern in a way of its own.
_NOT_PLAIN = re.compile(r'^[*!]|[/()\[\]{}"]')
_BY_HEART = re.compile(r"(\*\*/(?:\*\.\*|\.\*|\*)|\*\*?|\*[/.]\*|\.\*)((?:\.\w+)*)", re.ASCII)
_TEXT = re.compile(r'[^\\*?+\[\]{}()|,./@!"\0]+|.', re.DOTALL)
_DOUBLED = re.compile(r"([$^|+])\1")
_SET = re.compile(r"\[(\^?)((?:\[:[a-z]+:\]|\\.|[^\]\[\\\0])+)\]", re.DOTALL)
_LIKE_A_CLASS = re.compile(r"\\\[.*:|\A([:.=]).+\1\Z", re.DOTALL)
_MEMBER = re.compile(r"\[:([a-z]+):\]|\\?(.)", re.DOTALL)
_SIGN_IN_SET = re.compile(r"[-*+?.^${}(|)\[\]]")
_RANGE = re.compile(r"\{(\w+(?:\.\.\w+)+)\}", re.ASCII)
_BRACE_AS_TEXT = re.compile(r'\{(?:[^{}()\[\]*?+!@|\\",./$^\0]|\.(?!\.))*\}')
_FOLDERS_AGAIN = re.compile(r"(?:/\*\*(?=/|\Z))+")
_BACKSLASHES = re.compile(r"\\+[^\\]?", re.DOTALL)
_AFTER_TWO = re.compile(r"[\w*?]?", re.ASCII)
_WITH_MEANING = re.compile(r"\\[bBdDwWsStnvfrcxukpP0-9]")
# Pairs of the first and the last character of each range.
_CLASSES = {
    "alnum": "azAZ09", "alpha": "azAZ", "ascii": "\0\x7f", "blank": "  \t\t", "digit": "09",
    "cntrl": "\0\x1f\x7f\x7f", "graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[[]`{~",
    "space": "\t\r  ", "upper": "AZ", "word": "azAZ09__", "xdigit": "AFaf09",
}  # fmt: skip
# How the reference spells a class where it takes a set as text, too.
_CLASSES_AS_TEXT = {"blank": " \t", "space": " \t\r\n\v\f"}

_SLASH, _MAYBE_SLASH = Text("/"), Group(((Text("/"),),), "?")
_FOLDERS = Star(at_name=True, careful=True)
_SIGNS: dict[str, Sign] = {"?": "?", "*": "*", "+": "+"}
_NEGATION = "!(...) around all of it, [^...], or another rule that denies the exceptions"


@dataclass(frozen=True)
class ParsedGlob:
    """A pattern taken apart: it matches what a branch matches, but nothing of ``excluded``.

    ``notes`` name what may surprise in it (a ``DangerKind``), and how that is spelled.
    """

    branches: Branches
    excluded: Branches = ()
    notes: tuple[tuple[str, str], ...] = ()
    may_begin_with_break: bool = True

    @property
    def literal(self) -> str | None:
        """The one text that it matches; None if it is more than a text."""
        nodes = self.branches[0] if len(self.branches) == 1 and not self.excluded else ()
        texts = [node.text for node in nodes if isinstance(node, Text)]
        return "".join(texts) if texts and len(texts) == len(nodes) else None


def read_glob(pattern: str) -> ParsedGlob:
    """Take a pattern apart.

    Raises:
        ConfigError: it is empty or too long, or cannot be read exactly as the reference does.
    """
    if not pattern:
        raise ConfigError('an empty pattern matches nothing; write * for anything, """" for empty')
    if (units := len(code_units(pattern))) > MAX_UNITS:
        raise ConfigError(f"the pattern has {units} characters; at most {MAX_UNITS} are allowed")
    bangs = len(pattern) - len(pattern.lstrip("!"))
    bangs -= bangs > 0 and pattern.startswith("(", bangs)
    body = pattern[bangs:].removeprefix("./")
    dropped = body != pattern[bangs:]
    if dropped and (body.startswith(("./", "!")) or (bangs and not bangs % 2)):
        raise _refused("./ beside ! or another ./", "it without the ./")
    by_heart = None if bangs else _BY_HEART.fullmatch(body)
    reader = _Reader(body, plain=not (bangs or by_heart or _NOT_PLAIN.search(body)))
    reader.notes += [("NEGATED", "!")] * (bangs % 2)
    reader.notes += [("DROPPED_START", "./")] * dropped
    if not bangs and body.startswith("!("):
        return ParsedGlob(((_FOLDERS,),), reader.all_but(), tuple(reader.notes))
    branches = reader.whole()
    if bangs % 2:
        return ParsedGlob(((Star(),),), branches, tuple(reader.notes))
    if by_heart:
        branches = (_by_heart(branches[0], by_heart),)
    return ParsedGlob(branches, (), tuple(reader.notes), reader.may_begin_with_break)


def _by_heart(nodes: Branch, found: re.Match[str]) -> Branch:
    """A pattern that the reference knows by heart: one slash may follow an extension."""
    if found[2]:
        return (_FOLDERS if found[1] == "**" else nodes[0], *nodes[1:], _MAYBE_SLASH)
    if len(nodes) == 1 or not isinstance(nodes[-2], Text):
        return nodes
    return (*nodes[:-1], _any_but(BREAKS + ("." if found[1] == "*/*" else "")), Star())


def _any_but(signs: str) -> Set:
    return Set(tuple((sign, sign) for sign in signs), negated=True)


_Before = Literal["start", "/", ".", "text", "*", "[", "(", ")", "{", "other"]


@dataclass
class _Run:
    """The parts of one branch so far, and what stands before the next and before the last slash."""

    before: _Before
    before_slash: _Before = "text"
    nodes: list[Node] = field(default_factory=list)

    def spell(self, text: str, before: _Before = "text") -> None:
        last = self.nodes[-1] if self.nodes else None
        if isinstance(last, Text) and "/" not in (text, last.text):
            self.nodes.pop()
            text = last.text + text
        self.add(before, Text(text))

    def add(self, before: _Before, node: Node) -> None:
        self.nodes.append(node)
        self.before = before


class _Reader:
    """Reads one pattern after its leading ``!`` and ``./``."""

    def __init__(self, source: str, *, plain: bool) -> None:
        self.source = source
        self.plain = plain
        self.notes: list[tuple[str, str]] = []
        self.may_begin_with_break = True
        self.at = self.parens = self.braces = self.repeats = 0
        # The reference forgets that a dot after text means itself where it reads a class or range.
        self.forgets = self.dot_in_text = False

    def whole(self) -> Branches:
        """All of the pattern."""
        if self.plain and (doubled := _DOUBLED.search(self.source)):
            raise _refused(doubled[0], f"a backslash before each {doubled[1]}")
        branches, _ = self._choice("", "start")
        if self.forgets and self.dot_in_text:
            raise _refused(". after text, and a class or range of characters", "[.] for the .")
        if len(branches) > 1 and not self.may_begin_with_break:
            raise _refused("| outside of a group", "@(a|b)")
        return branches

    def all_but(self) -> Branches:
        """What a pattern that is one ``!(...)`` leaves out."""
        self.at = 1
        self.notes.append(("ANYTHING_BUT", self.source))
        branches = self._inside()
        if self.at < len(self.source):
            raise _refused("!(", _NEGATION)
        return branches

    def _choice(self, stops: str, before: _Before) -> tuple[Branches, bool]:
        """Branches up to the first of the stops, and whether a comma divides them."""
        if self.parens + self.braces > _MAX_DEPTH:
            raise ConfigError(f"the pattern nests more than {_MAX_DEPTH} groups; write several")
        branches: list[Branch] = []
        commas = False
        while True:
            branches.append(self._branch(stops, before))
            char = self._sign()
            if not char and stops:
                raise _refused(f"a group without its {stops[0]}", "\\( for a (, or \\{ for a {")
            if not char or char == stops[:1]:
                return tuple(branches), commas
            commas |= char == ","
            before = "other" if char == "," else "text"
            if not stops:
                self.notes.append(("WHOLE_BRANCHES", "|"))
            self.at += 1

    def _sign(self, ahead: int = 0) -> str:
        return self.source[self.at + ahead : self.at + ahead + 1]

    def _branch(self, stops: str, before: _Before) -> Branch:
        run = _Run(before)
        ends = stops if self.plain else stops + "|"
        while (char := self._sign()) and char not in ends:
            if char == "(" or (char in "?*+@!" and self._opens(run)):
                self._group(run, char)
            elif char in _Reader._special:
                _Reader._special[char](self, run)
            elif char in ')"\0' or (char == "}" and self.braces):
                raise _refused(char, f"\\{char} for the character")
            else:
                text = _matched(_TEXT, self.source, self.at)
                run.spell(text, "other" if char == "," else "text")
                self.at += len(text)
        may_end = not stops and not char and run.before == "["
        return (*run.nodes, *([_MAYBE_SLASH] * may_end))

    def _opens(self, run: _Run) -> bool:
        if self._sign(1) != "(" or (self._sign() == "?" and run.before == "("):
            return False
        return self._sign() == "!" or self._sign(2) != "?"

    def _backslash(self, run: _Run) -> None:
        found = _matched(_BACKSLASHES, self.source, self.at)
        signs, after = found.count("\\"), found.lstrip("\\")
        if signs > 2 or (signs == 2 and self.plain and not _AFTER_TWO.fullmatch(after)):
            raise _refused(found, r"@(\\) for each backslash")
        if signs == 1 and (_WITH_MEANING.match(found) or (self.plain and not after)):
            raise _refused(found, r"\\ for a backslash, or the character alone")
        dropped = signs == 1 and after in (".", ";")
        self.at += 1 if dropped else min(len(found), 2)
        if not dropped:
            run.spell("\\" if signs == 2 or not after else after)

    def _dot(self, run: _Run) -> None:
        if self.braces and run.before == ".":
            raise _refused(".. in braces", "[.][.], or a range such as {1..3}")
        inside = self.parens + self.braces > 0
        self.dot_in_text |= not inside and run.before == "text"
        run.spell(".", "." if inside or run.before in ("start", "/") else "text")
        self.at += 1

    def _slash(self, run: _Run) -> None:
        run.before_slash = run.before
        run.add("/", _SLASH)
        self.at += 1

    def _star(self, run: _Run) -> None:
        first = self.at
        while self._sign() == "*" and not self._opens(run):
            self.at += 1
        at_name = run.before in ("start", "/")
        if self.at - first == 2 and at_name and self._sign() in ("", "/") and not self.plain:
            self._globstar(run)
        else:
            run.add("*", Star(at_name=at_name and not self.plain, careful=self.plain))

    def _globstar(self, run: _Run) -> None:
        """``**`` alone between slashes: names, none of them hidden, with their slashes."""
        self.at += len(_matched(_FOLDERS_AGAIN, self.source, self.at))
        at_end = not self._sign()
        if run.before == "start" and at_end:
            run.add("text", _FOLDERS)
        elif run.before != "start" and (
            run.before_slash == "start" or (at_end and run.before_slash == "*")
        ):
            run.add("*", Star(careful=True))
        else:
            self.at += not at_end
            if run.before == "start":
                group = Group(((), (_SLASH,), (_FOLDERS, _SLASH)))
            else:
                below = (run.nodes.pop(), Star(careful=True))
                groups = ((), below) if at_end else ((_SLASH,), (*below, _SLASH))
                group = Group(groups, or_end=bool(self._sign()))
            run.add("/", group)
            run.before_slash = "*"

    def _question(self, run: _Run) -> None:
        looks = run.before == "(" and self._sign(1) in ("!", "=", "<", ":")
        if looks or run.before == ")":
            raise _refused("? beside a parenthesis", r"?(...) for what may be missing, \? for a ?")
        if run.before == "(":
            run.spell("?")
        else:
            run.add("other", _any_but("/." if run.before in ("start", "/") else "/"))
        self.at += 1

    def _plus(self, run: _Run) -> None:
        if run.before == "[":
            run.add("other", Group(((run.nodes.pop(),),), "+"))
        elif self.parens or run.before in (")", "{"):
            raise _refused("+", r"\+ for a +, or +(...) for what repeats")
        else:
            run.spell("+", "other")
        self.at += 1

    def _set(self, run: _Run) -> None:
        found = _SET.match(self.source, self.at)
        if found is None or _LIKE_A_CLASS.search(found[2]):
            raise _refused("[", r"\[ for a [, or a set: [abc], [a-z], [^a], [[:digit:]]")
        ranges, has_class = _members(found[2], found[0])
        text = _MEMBER.sub(lambda one: one[2] or _CLASSES_AS_TEXT.get(one[1], "-"), found[2])
        node: Node = Set(ranges, bool(found[1]))
        if found[1] and not has_class:
            node = Set((*ranges, ("/", "/")), negated=True)
        elif not found[1] and not _SIGN_IN_SET.search(text):
            node = Group(((Text(f"[{text}]"),), (node,)))  # the reference takes it as text, too
        if found[0].startswith("[!"):
            self.notes.append(("BANG_IN_SET", found[0]))
        self.forgets |= has_class
        self.may_begin_with_break &= not (has_class and run.before == "start")
        run.add("[", node)
        self.at = found.end()

    def _brace(self, run: _Run) -> None:
        if found := _RANGE.match(self.source, self.at):
            self.notes.append(("RANGE_AS_SET", found[0]))
            self.forgets = True
            run.add("{", Set(_members("-".join(sorted(found[1].split(".."))), found[0])[0]))
            self.at = found.end()
        elif text := _matched(_BRACE_AS_TEXT, self.source, self.at):
            run.spell(text, "{")
            self.at += len(text)
        else:
            self.at += 1
            self.braces += 1
            branches, commas = self._choice("},", "{")
            self.braces -= 1
            self.at += 1
            if not commas:
                raise _refused("a brace without a comma", r"\{ for a {, or {a,b}")
            run.add("{", Group(branches))

    def _inside(self) -> Branches:
        """What is between the parentheses."""
        self.parens += 1
        self.at += 1
        branches, _ = self._choice(")", "(")
        self.at += 1
        self.parens -= 1
        return branches

    def _group(self, run: _Run, sign: str) -> None:
        if sign == "!":
            raise _refused("!(", _NEGATION)
        if self.source.startswith("@(\\\\)", self.at):
            run.spell("\\", ")")
            self.at += 5
            return
        repeats, first = self.repeats, self.at + 2
        self.may_begin_with_break &= sign in "@(" or run.before != "start"
        self.at += sign != "("
        run.add(")", Group(self._inside(), _SIGNS.get(sign, "")))
        inner = self.source[first : self.at - 1]
        if sign in "*+" and (self.repeats > repeats or _may_be_text(inner)):
            raise _refused(f"{sign}({inner})", "distinct words in a repeated group, as in +(ab|cd)")
        self.repeats += sign in "*+"

    _special: ClassVar[dict[str, Callable[[_Reader, _Run], None]]] = {
        "\\": _backslash, ".": _dot, "/": _slash, "*": _star, "?": _question, "+": _plus,
        "[": _set, "{": _brace,
    }  # fmt: skip


def _may_be_text(inner: str) -> bool:
    """Whether the reference may take a repeated group as text: true at least where it does."""
    branches = [re.sub(r"[@()\\\s\ufeff]", "", branch) for branch in inner.split("|")]
    alike = [branch[0] for branch in branches if len(set(branch)) == 1]
    risky = "" in branches or any(set(branch) <= {"*", "?"} for branch in branches)
    return len(branches) > 1 and (risky or len(alike) > len(set(alike)))


def _members(content: str, spelling: str) -> tuple[tuple[Range, ...], bool]:
    """The ranges of a set, and whether it names a class of characters."""
    found = list(_MEMBER.finditer(code_units(content)))
    ranges: list[Range] = []
    at = 0
    while at < len(found):
        to = at + 2 if at + 2 < len(found) and found[at + 1][0] == "-" else at
        name, low, high = found[at][1], found[at][2], found[to][2]
        wrong = any(_WITH_MEANING.match(one[0]) for one in (found[at], found[to]))
        if name:
            wrong = wrong or name not in _CLASSES or to > at
        elif to > at:
            wrong = wrong or high is None or not low <= high < "\ud800"
        if wrong:
            raise _refused(spelling, "[abc], [a-z], [^a], or a class such as [[:digit:]]")
        pairs = _CLASSES[name] if name else low + (high or low)
        ranges += zip(pairs[::2], pairs[1::2], strict=True)
        at = to + 1
    return tuple(ranges), any(one[1] for one in found)


def _matched(pattern: re.Pattern[str], source: str, at: int) -> str:
    found = pattern.match(source, at)
    return found[0] if found else ""


def _refused(what: str, hint: str) -> ConfigError:
    return ConfigError(f"the pattern has {what}, whose meaning is not clear; write {hint}")
