"""Globs: the patterns of permission rules, as picomatch with ``bash: true`` reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from assent.errors import ConfigError
from assent.glob_dangers import warnings
from assent.glob_parser import MOST_UNITS, Parsed, parse
from assent.glob_parts import (
    FOLDERS,
    CarefulRun,
    Chain,
    Check,
    Literal,
    Part,
    Run,
    Text,
    code_units,
)
from assent.glob_sets import ANY, BREAKS, DOT

# The one pattern that means the empty value, which the reference matches with nothing.
_EMPTY = '""""'
# A sign twice in a row keeps a meaning where one alone has none.
_SPECIAL = re.compile(
    r'[*?\[\]{}()!+@|"\0]|\A\.(?=/)|\$(?=\$)|(?<=\$)\$|\^(?=\^)|(?<=\^)\^|\\(?=\w|\Z)|(\\)',
    re.ASCII,
)
# The reference joins two backslashes with what follows them, but not out of a group.
_LONE_BACKSLASH = r"@(\\)"

_Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern for values, compiled once.

    The time ``matches`` takes grows with the value's length times the
    pattern's and never faster. ``prefixes`` are texts one of which begins
    every value that can match; ``("",)`` where nothing is known.

    Raises:
        ConfigError: the pattern is too long or too large, or it is not clear
            what it means; the message names the place and the fix.
    """

    pattern: str
    prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _own: bool = field(init=False, repr=False, compare=False)
    _test: _Test = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parsed = parse(self.pattern)
        test, own = _test(self.pattern, parsed)
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_test", test)
        object.__setattr__(self, "prefixes", _prefixes(self.pattern, parsed, own=own))

    def matches(self, value: str) -> bool:
        """Whether the pattern means this value, from its first character to its last."""
        if not value.startswith(self.prefixes):
            return False
        if value == self.pattern:
            return self._own
        return self._test(value)


def escape(text: str) -> str:
    """A pattern that matches this text and nothing else.

    Raises:
        ConfigError: the pattern would be longer than a pattern may be.
    """
    escaped = _SPECIAL.sub(_escaped, text) or _EMPTY
    units = len(escaped) + sum(char > "\uffff" for char in escaped)
    if units > MOST_UNITS:
        raise ConfigError(
            f"the text makes a pattern of {units} characters, {MOST_UNITS} are allowed; "
            "make a rule for the digest of the arguments instead"
        )
    return escaped


def _escaped(found: re.Match[str]) -> str:
    return _LONE_BACKSLASH if found[1] else "\\" + found[0]


def dangers(pattern: str) -> tuple[str, ...]:
    """What a person may not expect of this pattern, a sentence each.

    Every sentence ends in ``for example`` and a value that does match, as a
    Python literal. No sentences is no proof that a pattern is harmless.

    Raises:
        ConfigError: the pattern is refused.
    """
    glob = Glob(pattern)
    return warnings(pattern, parse(pattern), glob.matches)


def _test(pattern: str, parsed: Parsed) -> tuple[_Test, bool]:
    """The fastest test there is, and whether the pattern matches its own spelling.

    Every pattern does in the reference. Here one that is text with
    backslashes does not: it means that text, and no second one. Neither does
    a negated one, unless it means that anyway: the rows leave that open.
    """
    part = parsed.part
    if part is None:
        return _never, True
    if parsed.negated:
        negated = _negated(part)
        return negated, negated(pattern)
    if pattern == _EMPTY:
        return _is(""), False
    if isinstance(part, Literal):
        own = "\\" not in pattern or part.text == pattern
        test = _is(part.text) if part.text else _never
        return (test if max(pattern) <= "\uffff" else _is_in_units(part.text)), own
    general = _general(part)
    pieces = _pieces(part) if max(pattern) <= "\uffff" else None
    return (_starred(*pieces, general) if pieces else general), True


def _prefixes(pattern: str, parsed: Parsed, *, own: bool) -> tuple[str, ...]:
    if parsed.part is None or parsed.negated or max(pattern) > "\uffff":
        return ("",) if parsed.part is not None else (pattern,)
    heads, _ = parsed.part.heads()
    if own and not pattern.startswith(tuple(heads)):
        heads |= {pattern}
    return tuple(sorted(heads))


def _never(value: str) -> bool:  # noqa: ARG001 -- a test like the others
    return False


def _is(text: str) -> _Test:
    return text.__eq__


def _is_in_units(text: str) -> _Test:
    def test(value: str) -> bool:
        return code_units(value) == text

    return test


def _general(part: Part) -> _Test:
    def test(value: str) -> bool:
        if not value:
            return False
        text = Text(value)
        return part.starts(text, 1) >> text.size == 1

    return test


def _negated(part: Part) -> _Test:
    general = _general(part)

    def test(value: str) -> bool:
        return bool(value) and not _broken(value) and not general(value)

    return test


def _broken(value: str) -> bool:
    return any(char in value for char in BREAKS)


def _pieces(part: Part) -> tuple[list[str], bool] | None:
    """The texts between the stars, and whether hidden names matter; None if there is more."""
    if not isinstance(part, Chain):
        return None
    pieces = [""]
    careful = False
    starred = False
    parts = list(part.parts)
    for index, one in enumerate(parts):
        if isinstance(one, Literal):
            pieces[-1] += one.text
            starred = False
        elif isinstance(one, Check) and one.members is DOT:
            careful = True
        elif one is FOLDERS:
            # Without hidden names, `**/*` is `*`: what follows must be such a star.
            careful = True
            after = next((p for p in parts[index + 1 :] if not isinstance(p, Check)), None)
            if not isinstance(after, Run):
                return None
        elif isinstance(one, CarefulRun) or (isinstance(one, Run) and one.members is ANY):
            careful |= isinstance(one, CarefulRun)
            if not starred:
                pieces.append("")
            starred = True
        else:
            return None
    return (pieces, careful) if len(pieces) > 1 else None


def _starred(pieces: list[str], careful: bool, general: _Test) -> _Test:
    """The test for texts and stars, for values in which a star may take anything."""
    first, *middle, last = pieces
    least = sum(map(len, pieces))

    def test(value: str) -> bool:
        if not value.endswith(last) or not value.startswith(first) or len(value) < least:
            return False
        if "\n" in value or "\r" in value or "\u2028" in value or "\u2029" in value:
            return general(value)
        if careful and ("/." in value or value[:1] == "."):
            return general(value)
        at = len(first)
        for piece in middle:
            at = value.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return 0 < len(value) >= at + len(last)

    return test
