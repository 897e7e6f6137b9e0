"""Globs: the patterns of permission rules, as picomatch with ``bash: true`` reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from sayso.errors import ConfigError
from sayso.globs.needs import Needs, needs
from sayso.globs.parser import MOST_UNITS, Parsed, parse
from sayso.globs.parts import Literal, Part
from sayso.globs.sets import BREAKS
from sayso.globs.shapes import Shape, shapes
from sayso.globs.value import Value, code_units

# The one pattern that means the empty value, which the reference matches with nothing.
_EMPTY = '""""'
# A sign twice in a row keeps a meaning where one alone has none.
_SPECIAL = re.compile(
    r'[*?\[\]{}()!+@|"\0]|\A\.(?=/)|\$(?=\$)|(?<=\$)\$|\^(?=\^)|(?<=\^)\^|\\(?=\w|\Z)|(\\)',
    re.ASCII,
)
# The reference joins two backslashes with what follows them, but not out of a group.
_LONE_BACKSLASH = r"@(\\)"

# Text that means itself: no sign that means anything in a pattern, no beginning that is dropped.
_PLAIN = re.compile(r"[A-Za-z0-9_/ =,:-][A-Za-z0-9_/ =,:.-]{0,1000}\Z")

_Test = Callable[[Value], bool]


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern for values, compiled once.

    The time ``matches`` takes grows with the value's length times the
    pattern's and never faster. ``needs`` is in every value that can match,
    but for the pattern's own spelling.

    Raises:
        ConfigError: the pattern is too long or too large, or it is not clear
            what it means; the message names the place and the fix.
    """

    pattern: str
    needs: Needs = field(init=False, repr=False, compare=False)
    _own: bool = field(init=False, repr=False, compare=False)
    _test: _Test = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parsed = parse(self.pattern)
        needed = _needs(self.pattern, parsed)
        test, own = _test(self.pattern, parsed, needed)
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_test", test)
        object.__setattr__(self, "needs", needed)

    def matches(self, value: str) -> bool:
        """Whether the pattern means this value, from its first character to its last."""
        return self.fits(Value(value))

    def fits(self, value: Value) -> bool:
        """Whether the pattern means this value, which other globs look at too."""
        if value.value == self.pattern:
            return self._own
        return self._test(value)


@lru_cache(maxsize=8_192)
def compiled(pattern: str) -> Glob:
    """The glob of a pattern that many rules or policies may hold.

    Raises:
        ConfigError: the pattern is refused.
    """
    return Glob(pattern)


def check_pattern(pattern: str) -> None:
    """Say what is wrong with a pattern before it is used; plain text is not compiled for that.

    Raises:
        ConfigError: the pattern is refused.
    """
    if _PLAIN.match(pattern) is None:
        compiled(pattern)


def escape(text: str) -> str:
    """A pattern that matches this text and nothing else.

    Raises:
        ConfigError: the pattern would be longer than a pattern may be.
    """
    escaped = _SPECIAL.sub(_escaped, text) or _EMPTY
    units = len(escaped)
    if not escaped.isascii():
        units += sum(char > "\uffff" for char in escaped)
    if units > MOST_UNITS:
        raise ConfigError(
            f"the text makes a pattern of {units} characters; at most {MOST_UNITS} are allowed: "
            "make a rule for the digest of the arguments instead"
        )
    return escaped


def _escaped(found: re.Match[str]) -> str:
    return _LONE_BACKSLASH if found[1] else "\\" + found[0]


def _test(pattern: str, parsed: Parsed, needed: Needs) -> tuple[_Test, bool]:
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
        return negated, negated(Value(pattern))
    if pattern == _EMPTY:
        return _is(""), False
    if isinstance(part, Literal):
        own = "\\" not in pattern or part.text == pattern
        test = _is(part.text) if part.text else _never
        return (test if max(pattern) <= "\uffff" else _is_in_units(part.text)), own
    general = _general(part, needed)
    some = shapes(part) if max(pattern) <= "\uffff" else ()
    return (_shaped(some, general) if some else general), True


def _needs(pattern: str, parsed: Parsed) -> Needs:
    if pattern == _EMPTY:
        return Needs(whole=True)
    if parsed.part is None:
        return Needs(frozenset(), frozenset(), whole=True)
    # Halves of characters beyond U+FFFF are not to be found in a value as it is.
    if parsed.negated or max(pattern) >= "\ud800":
        return Needs()
    return needs(parsed.part)


def _never(value: Value) -> bool:  # noqa: ARG001 -- a test like the others
    return False


def _is(text: str) -> _Test:
    def test(value: Value) -> bool:
        return value.value == text

    return test


def _is_in_units(text: str) -> _Test:
    def test(value: Value) -> bool:
        return code_units(value.value) == text

    return test


def _general(part: Part, needed: Needs | None = None) -> _Test:
    heads, tails = (tuple(needed.heads), tuple(needed.tails)) if needed else ("", "")
    words = needed.words if needed else ()

    def test(value: Value) -> bool:
        there = value.value
        if not there or not there.startswith(heads) or not there.endswith(tails):
            return False
        for texts in words:
            if not any(text in there for text in texts):
                return False
        text = value.text
        return part.starts(text, 1) >> text.size == 1

    return test


def _negated(part: Part) -> _Test:
    general = _general(part)

    def test(value: Value) -> bool:
        return bool(value.value) and not _broken(value.value) and not general(value)

    return test


def _broken(value: str) -> bool:
    return any(char in value for char in BREAKS)


def _shaped(some: tuple[Shape, ...], general: _Test) -> _Test:
    """The test for texts and stars. Where a star may not take anything, fewer values match."""
    careful = any(shape.careful for shape in some)

    def test(value: Value) -> bool:
        there = value.value
        if not there or not any(shape.fits(there) for shape in some):
            return False
        hidden = careful and ("/." in there or there[0] == ".")
        return general(value) if hidden or _broken(there) else True

    return test
