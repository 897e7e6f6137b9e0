"""Globs: the patterns of permission rules, as picomatch with ``bash: true`` reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, core_schema

from sayso.errors import ConfigError
from sayso.rules.glob_reader import MAX_UNITS, read_glob
from sayso.rules.glob_to_regex import BREAKS, Branches, code_units, to_regex

# A text is compared, anything else is compiled.
_MAX_COMPILED = 4_096
# Each of these may go on in every place of a value: with 10 kB that takes a tenth of a second.
_MAX_AFTER_STAR = 512
_STAR = re.compile(r"\*|\+\(|\]\+")
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
    """A pattern for values: ``matches`` tells whether it means a value, from beginning to end.

    A text is compared, anything else is compiled once. The time grows with the length of the
    value and no faster.

    Raises:
        ConfigError: the pattern is too long or too large, or cannot be matched exactly as the
            reference does; the message says what to write instead.
    """

    pattern: str
    matches: _Test = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matches", _test(self.pattern))


@lru_cache(maxsize=8_192)
def compile_glob(pattern: str) -> Glob:
    """The glob of a pattern that many rules or policies may hold.

    Raises:
        ConfigError: the pattern is refused.
    """
    return Glob(pattern)


def escape_glob(text: str) -> str:
    """A pattern that matches this text and nothing else.

    Raises:
        ConfigError: the pattern would be longer than a pattern may be.
    """
    escaped = _SPECIAL.sub(_escaped, text) or _EMPTY
    units = len(code_units(escaped))
    if units > MAX_UNITS:
        raise ConfigError(
            f"the text makes a pattern of {units} characters; at most {MAX_UNITS} are allowed: "
            "make a rule for the digest of the arguments instead"
        )
    return escaped


def _escaped(found: re.Match[str]) -> str:
    return _LONE_BACKSLASH if found[1] else "\\" + found[0]


def _test(pattern: str) -> _Test:
    """A test for values. Every pattern matches its own spelling, as in the reference.

    One that is text with backslashes does not: it means that text, and no second one.
    """
    if pattern == _EMPTY:
        return "".__eq__
    parsed = read_glob(pattern)
    if (text := parsed.literal) is not None:
        units, own = code_units(text), "" if "\\" in pattern else pattern
        return lambda value: code_units(value) == units or (value == own != "")
    if len(code_units(pattern)) > _MAX_COMPILED:
        raise ConfigError(
            f"the pattern has more than {_MAX_COMPILED} characters; write several patterns"
        )
    if (star := _STAR.search(pattern)) and len(code_units(pattern)) - star.end() > _MAX_AFTER_STAR:
        raise ConfigError(
            f"the pattern has more than {_MAX_AFTER_STAR} characters after its first star; "
            "write several patterns"
        )
    wanted, excluded = _compile(parsed.branches), _compile(parsed.excluded)

    def test(value: str) -> bool:
        if not value or value == pattern:
            return value != ""
        if value[0] in BREAKS and not parsed.may_begin_with_break:
            return False
        units = code_units(value)
        return wanted(units) and not (parsed.excluded and excluded(units))

    return test


def _compile(branches: Branches) -> _Test:
    schema = core_schema.str_schema(pattern=to_regex(branches), regex_engine="rust-regex")
    try:
        return SchemaValidator(schema).isinstance_python
    except SchemaError:
        text = "the pattern is too large; write several patterns, or shorter ones"
        raise ConfigError(text) from None
