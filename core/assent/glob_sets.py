"""Sets of UTF-16 code units: what one character of a glob pattern can stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

LAST = 0xFFFF
Range = tuple[int, int]


class _Marks(dict[int, str]):
    """For ``str.translate``: "1" for a member of the set, "0" for any other character."""

    def __init__(self, ranges: tuple[Range, ...]) -> None:
        super().__init__()
        self._ranges = ranges

    def __missing__(self, code: int) -> str:
        return "1" if any(low <= code <= high for low, high in self._ranges) else "0"


@dataclass(frozen=True, eq=False, slots=True)
class CharSet:
    """A set of code units, kept as sorted ranges that neither touch nor overlap.

    Compared by identity, so that it is a fast key.
    """

    ranges: tuple[Range, ...]
    marks: _Marks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "marks", _Marks(self.ranges))

    @property
    def table(self) -> bytes:
        """For ``bytes.translate``: as ``marks``, for the first 256 code units. Made when needed."""
        return _table(self)

    def __contains__(self, char: str) -> bool:
        return self.marks[ord(char)] == "1"

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

    def example(self) -> str:
        """A member, a plain letter if there is one; "" for the empty set."""
        if "x" in self or not self.ranges:
            return "x" if "x" in self else ""
        return chr(self.ranges[-1][0])


@lru_cache(maxsize=4_096)
def _table(members: CharSet) -> bytes:
    return "".join(map(members.marks.__getitem__, range(256))).encode()


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
SEGMENT = chars("/" + BREAKS).complement()
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
