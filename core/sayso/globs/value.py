"""A value as globs look at it: where which characters stand, found out once for all of them."""

from __future__ import annotations

from functools import lru_cache

from sayso.globs.sets import ANY, DOT, SLASH, CharSet

# More positions of one character, or of a longer text, are found faster all at once.
FEW_CHARS = 64
FEW_TEXTS = 16
# What it costs to look for a text, and to go through the value for a set of characters.
FIND_STEPS = 10
PASS_STEPS = 60
# To go through so few characters is nothing.
_SHORT = 256


class Text:
    """A value, and for each set of characters asked for, the positions before a member.

    ``steps`` counts the work: one for an operation on all positions, which
    takes 0.4 µs for a value of 10 kB, and as many of them for going through
    the value.
    """

    def __init__(self, value: str) -> None:
        self._high: bytes | None = None
        try:
            self._low = value.encode("latin-1")
        except UnicodeEncodeError:
            data = value.encode("utf-16-le", "surrogatepass")
            if len(data) > 2 * len(value):
                value = code_units(value)
            self._low, self._high = data[::2], data[1::2]
        self.value = value
        self.size = len(value)
        self.all = (2 << self.size) - 1
        self.steps = 0
        self._masks: dict[str, int] = {}
        self._pages: dict[int, int] = {}
        self._guard: int | None = None

    def mask(self, members: CharSet) -> int:
        """The positions right after a member: bit ``k`` for the last character but ``k``."""
        found = self._masks.get(members.key)
        if found is None:
            found = self._masks[members.key] = self._found(members)
        return found

    def _found(self, members: CharSet) -> int:
        if self._high is None and self.size <= _SHORT:
            self.steps += 1
            return int(self._low.translate(members.latin) or b"0", 2)
        few = self.few(members.only) if members.only else None
        return self._gone_through(members) if few is None else few

    def guard(self) -> int:
        """Characters a careful star may take: none that leads into a hidden name."""
        if self._guard is None:
            dots = self.mask(DOT)
            first = dots & (1 << self.size >> 1)
            self._guard = self.mask(ANY) & ~(self.mask(SLASH) & dots << 1) & ~first
        return self._guard

    def few(self, part: str) -> int | None:
        """The positions right after this text; None where there are too many to go one by one."""
        most = FEW_CHARS if len(part) == 1 else FEW_TEXTS
        self.steps += FIND_STEPS
        if self.value.count(part) > most:
            return None
        found = 0
        at = self.value.find(part)
        end = self.size - len(part)
        for _ in range(most):
            if at < 0:
                return found
            self.steps += 1
            found |= 1 << end - at
            at = self.value.find(part, at + 1)
        return found if at < 0 else None

    def _gone_through(self, members: CharSet) -> int:
        if self._high is None:
            return self._pass(self._low, members.latin)
        whole, partial = members.planes
        found = self._pass(self._high, whole) if whole else 0
        for page, table in partial.items():
            if here := self._page(page, self._high):
                found |= self._pass(self._low, table) & here
        return found

    def _page(self, page: int, high: bytes) -> int:
        """The positions right after a character of this page of 256 code units."""
        found = self._pages.get(page)
        if found is None:
            found = self._pass(high, _only(page)) if page in high else 0
            self._pages[page] = found
        return found

    def _pass(self, data: bytes, table: bytes) -> int:
        self.steps += PASS_STEPS
        return int(data.translate(table) or b"0", 2)


class Value:
    """A value that several globs look at: what they find out of it is found out once."""

    __slots__ = ("_text", "value")

    def __init__(self, value: str) -> None:
        self.value = value
        self._text: Text | None = None

    @property
    def text(self) -> Text:
        """The value for the parts of a glob."""
        if self._text is None:
            self._text = Text(self.value)
        return self._text


def code_units(text: str) -> str:
    """The text as JavaScript counts it: two halves for a character beyond U+FFFF."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, memoryview(data).cast("H")))


@lru_cache(maxsize=256)
def _only(page: int) -> bytes:
    return b"0" * page + b"1" + b"0" * (255 - page)
