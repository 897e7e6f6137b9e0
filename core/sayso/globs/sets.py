"""Sets of UTF-16 code units: what one character of a glob pattern can stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, cast

LAST = 0xFFFF
Range = tuple[int, int]


class Planes(NamedTuple):
    """A set as tables for ``bytes.translate``: "1" for a member, "0" for any other.

    ``whole`` is for the high bytes, the pages of 256 code units that are
    members altogether; empty where there is none. ``partial`` is for the low
    bytes of every page that is a member in part.
    """

    whole: bytes
    partial: dict[int, bytes]


@dataclass(frozen=True, eq=False, slots=True)
class CharSet:
    """A set of code units, kept as sorted ranges that neither touch nor overlap.

    Equal sets have equal keys, whichever way they were made.
    """

    ranges: tuple[Range, ...]
    key: str = field(init=False, repr=False)
    _planes: Planes | None = field(default=None, init=False, repr=False)
    _latin: bytes = field(default=b"", init=False, repr=False)

    def __post_init__(self) -> None:
        key = "".join(chr(code) for pair in self.ranges for code in pair)
        object.__setattr__(self, "key", key)

    @property
    def planes(self) -> Planes:
        """The tables of the set, made when they are needed first."""
        if self._planes is None:
            object.__setattr__(self, "_planes", _planes(self.ranges))
        return cast("Planes", self._planes)

    @property
    def latin(self) -> bytes:
        """The table for the first 256 code units."""
        if not self._latin:
            whole, partial = self.planes
            table = partial.get(0) or (_ONES if whole[:1] == b"1" else _ZEROS)
            object.__setattr__(self, "_latin", table)
        return self._latin

    @property
    def passes(self) -> int:
        """How many times a value is gone through, at most, to find the members in it."""
        whole, partial = self.planes
        return bool(whole) + len(partial)

    @property
    def only(self) -> str:
        """The one member; "" where there are none or more."""
        return self.key[0] if len(self.key) == 2 and self.key[0] == self.key[1] else ""

    def __contains__(self, char: str) -> bool:
        code = ord(char)
        return any(low <= code <= high for low, high in self.ranges)

    def __or__(self, other: CharSet) -> CharSet:
        return charset(self.ranges + other.ranges)

    def complement(self) -> CharSet:
        """Every code unit that is not in this set."""
        gaps: list[Range] = []
        start = 0
        for low, high in self.ranges:
            if low > start:
                gaps.append((start, low - 1))
            start = high + 1
        if start <= LAST:
            gaps.append((start, LAST))
        return CharSet(tuple(gaps))

    def meets(self, other: CharSet) -> bool:
        """Whether some character is in both sets."""
        return any(a <= d and c <= b for a, b in self.ranges for c, d in other.ranges)

    def members(self, most: int) -> str | None:
        """All members; None where there are more than ``most``."""
        if sum(high - low + 1 for low, high in self.ranges) > most:
            return None
        return "".join(chr(code) for low, high in self.ranges for code in range(low, high + 1))

    def example(self) -> str:
        """A member, a plain letter if there is one; "" for the empty set."""
        if "x" in self or not self.ranges:
            return "x" if "x" in self else ""
        return chr(self.ranges[-1][0])


_ZEROS, _ONES = b"0" * 256, b"1" * 256


def _planes(ranges: tuple[Range, ...]) -> Planes:
    tables: dict[int, bytearray] = {}
    whole = bytearray(_ZEROS)
    for low, high in ranges:
        for page in range(low >> 8, (high >> 8) + 1):
            first, last = max(low, page << 8) & 0xFF, min(high, page << 8 | 0xFF) & 0xFF
            if (first, last) == (0, 0xFF):
                whole[page] = ord("1")
            else:
                table = tables.setdefault(page, bytearray(_ZEROS))
                table[first : last + 1] = _ONES[first : last + 1]
    partial = {page: bytes(table) for page, table in tables.items()}
    return Planes(bytes(whole) if b"1" in whole else b"", partial)


def charset(ranges: Iterable[Range]) -> CharSet:
    """The set of everything in these ranges, in any order."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return CharSet(tuple(merged))


def chars(text: str) -> CharSet:
    """The set of these characters."""
    return charset((ord(char), ord(char)) for char in text)


def _span(*pairs: str) -> CharSet:
    return charset((ord(pair[0]), ord(pair[1])) for pair in pairs)


# What a dot does not match in JavaScript: the reference compiles to such expressions.
BREAKS = "\n\r\u2028\u2029"
ANY = chars(BREAKS).complement()
SLASH = chars("/")
NOT_SLASH = SLASH.complement()
DOT = chars(".")
DIGIT = _span("09")
WORD = _span("az", "AZ", "09", "__")
_SPACE = chars(
    "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
    + "".join(map(chr, range(0x2000, 0x200B)))
)

# The letters that keep a meaning of their own after a backslash.
ESCAPES = {
    "d": DIGIT,
    "D": DIGIT.complement(),
    "w": WORD,
    "W": WORD.complement(),
    "s": _SPACE,
    "S": _SPACE.complement(),
    "t": chars("\t"),
    "n": chars("\n"),
    "v": chars("\v"),
    "f": chars("\f"),
    "r": chars("\r"),
}

POSIX = {
    "alnum": _span("az", "AZ", "09"),
    "alpha": _span("az", "AZ"),
    "ascii": _span("\0\x7f"),
    "blank": chars(" \t"),
    "cntrl": _span("\0\x1f", "\x7f\x7f"),
    "digit": DIGIT,
    "graph": _span("\x21\x7e"),
    "lower": _span("az"),
    "print": _span("\x20\x7e"),
    "punct": chars("-!\"#$%&'()*+,./:;<=>?@[]^_`{|}~"),
    "space": chars(" \t\r\n\v\f"),
    "upper": _span("AZ"),
    "word": WORD,
    "xdigit": _span("AF", "af", "09"),
}
