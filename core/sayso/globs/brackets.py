"""The two places where a glob names a set of characters: ``[...]`` and ``{a..b}``."""

from __future__ import annotations

import re
from functools import lru_cache

from sayso.errors import ConfigError
from sayso.globs.sets import ESCAPES, POSIX, SLASH, CharSet, Range, chars, charset

_POSIX = re.compile(r"\[:([a-z]+):\]")
# What the reference takes for a class inside a set, whatever stands around the name. Beside a dash
# that is neither first nor last, a letter of how it spells the class begins or ends a range.
_LIKE_A_CLASS = re.compile(
    rf"(?=((?:\\|(?<!^\[)(?<!^\[\^)-)?\[.(?:{'|'.join(POSIX)}):(?:\]-(?=.)|.)?))", re.DOTALL
)
_NO_CLASS = re.compile(r"\[([:.=])[^\[\]]+\1\]\Z")
_PLAIN = re.compile(r"[A-Za-z0-9.+_-]*")


class NeverError(Exception):
    """The pattern becomes an expression that JavaScript refuses: it matches nothing."""


def closing_bracket(pattern: str, start: int) -> int:
    """Where the ``]`` of the ``[`` at ``start`` is, or -1: then the ``[`` stands for itself."""
    at = start + 1
    if pattern.startswith("^", at):
        at += 1
    if pattern.startswith("]", at):
        at += 1
    while at < len(pattern):
        if pattern[at] == "]":
            return at
        if pattern[at] == "\\":
            at += 2
        elif name := _posix(pattern, at):
            at += len(name) + 4
        else:
            at += 1
    return -1


def refuse_half_a_class(source: str, *, closed: bool) -> None:
    """Refuse a class of characters that does not stand on its own, in a set that is closed or not.

    The reference takes the name alone for the class, drops the character behind it, and then
    reads the set in a way nobody can mean.

    Raises:
        ConfigError: there is such a class; the message names the fix.
    """
    for found in _LIKE_A_CLASS.finditer(source, 1):
        if not closed or not _POSIX.fullmatch(found[1]):
            raise ConfigError(
                f"the pattern holds {found[1]!r}, a class of characters that is not closed or "
                "not on its own; write it as [[:alpha:]], or \\[ for a ["
            )


@lru_cache(maxsize=1_024)
def bracket_set(content: str) -> CharSet:
    """The set written between ``[`` and ``]``.

    Only ``^`` negates. The reference takes ``!`` as a member, and its negated
    sets leave the slash out, except where they name a class.
    """
    if content.startswith("^"):
        if names_class(content):
            return _members(content[1:]).complement()
        return (_members(content[1:]) | SLASH).complement()
    return _members(content)


def range_set(content: str) -> CharSet | None:
    """The one character that ``{a..b}`` stands for; None where it has no such meaning.

    The reference puts the sorted parts, joined by dashes, into brackets: so
    ``{1..100}`` is one of "1" and "0".
    """
    parts = sorted(_range_parts(content))
    if not all(map(_PLAIN.fullmatch, parts)):
        return None
    if not any(parts):
        raise NeverError
    try:
        return _members("-".join(parts))
    except NeverError:
        return None


def _range_parts(content: str) -> list[str]:
    parts: list[str] = []
    for part in content.split(".."):
        if part.startswith("."):
            parts.append(".")
        parts.append(part.removeprefix("."))
    return parts


def names_class(content: str) -> bool:
    """Whether the set names a class of characters, as in ``[[:digit:]]``."""
    return any(found[1] in POSIX for found in _POSIX.finditer(content))


def like_a_class(spelling: str) -> bool:
    """Whether a set looks like a class of characters and is none: ``[[.a.]`` or ``[:alpha:]``."""
    return _NO_CLASS.search(spelling) is not None


def _posix(text: str, at: int) -> str:
    found = _POSIX.match(text, at)
    return found[1] if found and found[1] in POSIX else ""


def _members(content: str) -> CharSet:
    ranges: list[Range] = []
    at = 0
    while at < len(content):
        low, at = _member(content, at)
        if content.startswith("-", at) and at + 1 < len(content):
            high, after = _member(content, at + 1)
            if _single(low) and _single(high):
                if low.ranges[0] > high.ranges[0]:
                    raise NeverError
                ranges.append((low.ranges[0][0], high.ranges[0][0]))
            else:
                ranges += low.ranges + high.ranges + chars("-").ranges
            at = after
        else:
            ranges += low.ranges
    return charset(ranges)


def _single(members: CharSet) -> bool:
    return len(members.ranges) == 1 and members.ranges[0][0] == members.ranges[0][1]


def _member(content: str, at: int) -> tuple[CharSet, int]:
    if name := _posix(content, at):
        return POSIX[name], at + len(name) + 4
    if content[at] == "\\" and at + 1 < len(content):
        return escaped_set(content, at, in_brackets=True)
    return chars(content[at]), at + 1


def escaped_set(pattern: str, at: int, *, in_brackets: bool = False) -> tuple[CharSet, int]:
    """What the backslash at ``at`` and the character after it stand for, and where they end."""
    char = pattern[at + 1]
    if char in ESCAPES:
        return ESCAPES[char], at + 2
    if char in "0123456789cxukpP" or (in_brackets and char in "bB"):
        text = (
            f"the pattern holds \\{char}, which has no plain meaning; "
            f"write {char} alone, or \\\\ for a backslash"
        )
        raise ConfigError(text)
    return chars(char), at + 2
