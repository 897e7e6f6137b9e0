"""The parts of a compiled glob, and how each of them moves backwards through a value.

A set of positions is one integer: bit ``k`` is the position ``k`` characters
before the end. A part is asked "at which positions can you begin, so that you
end at one of these?" and answers with shifts, masks and one addition, for all
positions at once. Nothing is ever tried twice, so no value is slow.
"""

# ruff: noqa: D102 -- Part says what its methods promise

from __future__ import annotations

from dataclasses import dataclass

from assent.glob_sets import ANY, DOT, LAST, SLASH, WORD, CharSet, chars

_BLOCK = 512
_HEADS = 16
_MANY = 64


class Text:
    """A value, and for each set of characters asked for, the positions before a member."""

    def __init__(self, value: str) -> None:
        if max(value, default="") > "\uffff":
            value = code_units(value)
        self.value = value
        self.size = len(value)
        self.all = (2 << self.size) - 1
        self.steps = 0
        self._latin = value.encode("latin-1") if max(value, default="") <= "\xff" else None
        self._masks: dict[CharSet, int] = {}
        self._guard: int | None = None

    def mask(self, members: CharSet) -> int:
        """The positions right after a member: bit ``k`` for the last character but ``k``."""
        found = self._masks.get(members)
        if found is None:
            low, high = members.ranges[0] if len(members.ranges) == 1 else (0, LAST)
            if low == high and chr(low) not in self.value:
                found = 0
            elif self._latin is not None:
                found = int(self._latin.translate(members.table) or b"0", 2)
            else:
                found = int(self.value.translate(members.marks), 2)
            self._masks[members] = found
        return found

    def guard(self) -> int:
        """Characters a careful star may take: none that leads into a hidden name."""
        if self._guard is None:
            dots = self.mask(DOT)
            first = dots & (1 << self.size >> 1)
            self._guard = self.mask(ANY) & ~(self.mask(SLASH) & dots << 1) & ~first
        return self._guard


def code_units(text: str) -> str:
    """The text as JavaScript counts it: two halves for a character beyond U+FFFF."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, memoryview(data).cast("H")))


Heads = tuple[frozenset[str], bool]
_ANYTHING: Heads = (frozenset({""}), False)
_NOTHING: Heads = (frozenset({""}), True)


class Part:
    """One piece of a pattern."""

    __slots__ = ()

    def starts(self, text: Text, ends: int) -> int:
        """The positions from which this part reaches one of the ends."""
        raise NotImplementedError

    def sample(self) -> str:
        """A short text this part matches, as far as that can be told without looking around."""
        return ""

    def heads(self) -> Heads:
        """Texts one of which begins every match, and whether they are whole matches."""
        return _ANYTHING


@dataclass(frozen=True, eq=False, slots=True)
class Literal(Part):
    """Exactly these characters."""

    text: str

    def starts(self, text: Text, ends: int) -> int:
        if not ends & (ends - 1):
            return self._from_one(text, ends)
        if len(self.text) > _MANY:
            if self.text not in text.value:
                return 0
            if len(set(self.text)) > _MANY:
                return self._by_finding(text, ends)
        for char in reversed(self.text):
            text.steps += 1
            ends = (ends & text.mask(chars_of(char))) << 1
            if not ends:
                break
        return ends

    def _from_one(self, text: Text, end: int) -> int:
        if not end:
            return 0
        text.steps += 1
        position = text.size - end.bit_length() + 1 - len(self.text)
        found = position >= 0 and text.value.startswith(self.text, position)
        return end << len(self.text) if found else 0

    def _by_finding(self, text: Text, ends: int) -> int:
        """For texts of many different characters: they cannot overlap themselves often."""
        size = len(self.text)
        found = 0
        at = text.value.find(self.text)
        while at >= 0:
            text.steps += 1
            found |= 1 << text.size - at - size
            at = text.value.find(self.text, at + 1)
        return (found & ends) << size

    def sample(self) -> str:
        return self.text

    def heads(self) -> Heads:
        return frozenset({self.text}), True


_SINGLES: dict[str, CharSet] = {}


def chars_of(char: str) -> CharSet:
    """The set of one character, made once."""
    found = _SINGLES.get(char)
    if found is None:
        found = chars(char)
        if len(_SINGLES) < 1_000:
            _SINGLES[char] = found
    return found


@dataclass(frozen=True, eq=False, slots=True)
class One(Part):
    """One character out of a set."""

    members: CharSet

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        return (ends & text.mask(self.members)) << 1

    def sample(self) -> str:
        return self.members.example()


def _flood(allowed: int, ends: int) -> int:
    """Extend each end backwards through the run of allowed characters before it.

    One addition does it: the carry travels through a run of ones.
    """
    return ends | (((ends & allowed) + allowed) ^ allowed)


@dataclass(frozen=True, eq=False, slots=True)
class Run(Part):
    """Any number of characters out of a set."""

    members: CharSet

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        return _flood(text.mask(self.members), ends)


@dataclass(frozen=True, eq=False, slots=True)
class CarefulRun(Part):
    """Any number of characters, but no step from a slash into a name that begins with a dot."""

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        return _flood(text.guard(), ends)


@dataclass(frozen=True, eq=False, slots=True)
class Check(Part):
    """Takes no character, and holds where the next one is (or is not) in a set."""

    members: CharSet
    wanted: bool

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        before = text.mask(self.members) << 1
        return ends & before if self.wanted else ends & ~before

    def heads(self) -> Heads:
        return _NOTHING


@dataclass(frozen=True, eq=False, slots=True)
class End(Part):
    """Takes no character, and holds at the end of the value."""

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        return ends & 1

    def heads(self) -> Heads:
        return _NOTHING


@dataclass(frozen=True, eq=False, slots=True)
class WordEdge(Part):
    r"""Takes no character: JavaScript's ``\b``, or ``\B`` where it is not wanted."""

    wanted: bool

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        after = text.mask(WORD)
        edges = (after ^ after << 1) & text.all
        return ends & edges if self.wanted else ends & ~edges

    def heads(self) -> Heads:
        return _NOTHING


@dataclass(frozen=True, eq=False, slots=True)
class Look(Part):
    """Takes no character, and holds where a part does (or does not) match from here on.

    ``to_end``: the part has to reach the end of the value.
    """

    part: Part
    wanted: bool
    to_end: bool

    def starts(self, text: Text, ends: int) -> int:
        found = self.part.starts(text, 1 if self.to_end else text.all)
        return ends & found if self.wanted else ends & ~found

    def heads(self) -> Heads:
        return _NOTHING


@dataclass(frozen=True, eq=False, slots=True)
class Chain(Part):
    """One part after the other."""

    parts: tuple[Part, ...]

    def starts(self, text: Text, ends: int) -> int:
        for part in reversed(self.parts):
            ends = part.starts(text, ends)
            if not ends:
                break
        return ends

    def sample(self) -> str:
        return "".join(part.sample() for part in self.parts)

    def heads(self) -> Heads:
        heads, whole = _NOTHING
        for part in self.parts:
            more, whole = part.heads()
            if len(heads) * len(more) > _HEADS:
                return heads, False
            heads = frozenset(a + b for a in heads for b in more)
            if not whole:
                break
        return heads, whole


@dataclass(frozen=True, eq=False, slots=True)
class Either(Part):
    """One of several parts."""

    parts: tuple[Part, ...]

    def starts(self, text: Text, ends: int) -> int:
        found = 0
        for part in self.parts:
            found |= part.starts(text, ends)
        return found

    def sample(self) -> str:
        return self.parts[-1].sample() or self.parts[0].sample()

    def heads(self) -> Heads:
        found = [part.heads() for part in self.parts]
        heads = frozenset[str]().union(*(texts for texts, _ in found))
        if len(heads) > _HEADS:
            return _ANYTHING
        return heads, all(whole for _, whole in found)


# ``**/``: any number of names, each with the slash that ends it.
FOLDERS = Either((Literal(""), Chain((CarefulRun(), Literal("/")))))

Branch = tuple[CharSet, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Repeat(Part):
    """Any number of the branches in a row, at least one of them if ``once``.

    No branch is empty. A block of positions is finished before the next is
    begun, so that the work grows with the value's length, not its square.
    """

    branches: tuple[Branch, ...]
    once: bool

    def starts(self, text: Text, ends: int) -> int:
        whole = self._whole(text)
        longest = max(whole)
        width = max(_BLOCK, 8 * longest)
        window = (1 << width) - 1
        wide = (1 << width + longest) - 1
        spill = 0
        found: list[bytes] = []
        for low in range(0, text.size + 1, width):
            local = {length: ends >> low & wide for length, ends in whole.items()}
            seen = spill | ends >> low & window
            reached = spill | _reached(text, local, seen, window)
            kept = reached if self.once else reached | seen
            found.append((kept & window).to_bytes(width // 8, "little"))
            spill = reached >> width
        return int.from_bytes(b"".join(found), "little")

    def _whole(self, text: Text) -> dict[int, int]:
        """For each length of a branch, the ends of everything such a branch matches."""
        found: dict[int, int] = {}
        for branch in self.branches:
            ends = text.all
            for members in reversed(branch):
                text.steps += 1
                ends = (ends & text.mask(members)) << 1
            found[len(branch)] = found.get(len(branch), 0) | ends >> len(branch)
        return found

    def sample(self) -> str:
        return "".join(members.example() for members in self.branches[-1]) if self.once else ""


def _reached(text: Text, whole: dict[int, int], seen: int, window: int) -> int:
    """Where one or more of the branches begin so that they end in ``seen``.

    ``whole``: the ends of the branches, by their length. What is reached beyond
    the window is told, and not followed from there.
    """
    reached = 0
    fresh = seen
    singles = whole.get(1, 0) & window
    while fresh:
        text.steps += 1
        fresh = _flood(singles, fresh) & window
        seen |= fresh
        step = 0
        for length, ends in whole.items():
            step |= (fresh & ends) << length
        reached |= step
        fresh = step & ~seen & window
    return reached
