"""The parts of a compiled glob, and how each of them moves backwards through a value.

A set of positions is one integer: bit ``k`` is the position ``k`` characters
before the end. A part is asked "at which positions can you begin, so that you
end at one of these?" and answers with shifts, masks and one addition, for all
positions at once. Nothing is ever tried twice, so no value is slow.
"""

# ruff: noqa: D102 -- Part says what its methods promise

from __future__ import annotations

from dataclasses import dataclass

from sayso.globs.sets import WORD, CharSet, chars
from sayso.globs.value import Text

BLOCK = 512


class Part:
    """One piece of a pattern."""

    __slots__ = ()

    def starts(self, text: Text, ends: int) -> int:
        """The positions from which this part reaches one of the ends."""
        raise NotImplementedError

    def sample(self) -> str:
        """A short text this part matches, as far as that can be told without looking around."""
        return ""


@dataclass(frozen=True, eq=False, slots=True)
class Literal(Part):
    """Exactly these characters."""

    text: str

    def starts(self, text: Text, ends: int) -> int:
        if not ends & (ends - 1):
            return self._from_one(text, ends)
        if len(self.text) > 1 and (found := text.few(self.text)) is not None:
            return (found & ends) << len(self.text)
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

    def sample(self) -> str:
        return self.text


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


@dataclass(frozen=True, eq=False, slots=True)
class End(Part):
    """Takes no character, and holds at the end of the value."""

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        return ends & 1


@dataclass(frozen=True, eq=False, slots=True)
class WordEdge(Part):
    r"""Takes no character: JavaScript's ``\b``, or ``\B`` where it is not wanted."""

    wanted: bool

    def starts(self, text: Text, ends: int) -> int:
        text.steps += 1
        after = text.mask(WORD)
        edges = (after ^ after << 1) & text.all
        return ends & edges if self.wanted else ends & ~edges


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
        width = max(BLOCK, 8 * longest)
        window = (1 << width) - 1
        if text.size < width:
            reached = _reached(text, whole, ends, window)
            return (reached if self.once else reached | ends) & window
        wide = (1 << width + longest) - 1
        spill = 0
        found: list[bytes] = []
        for low in range(0, text.size + 1, width):
            local = {length: ends >> low & wide for length, ends in whole.items()}
            text.steps += 3 + len(local)
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
    if len(whole) == 1:
        [(length, ends)] = whole.items()
        return _reached_by_doubling(text, length, ends & window, seen)
    reached = 0
    fresh = seen
    singles = whole.get(1, 0) & window
    while fresh:
        text.steps += 1
        if singles:
            fresh = _flood(singles, fresh) & window
        seen |= fresh
        step = 0
        for length, ends in whole.items():
            step |= (fresh & ends) << length
        reached |= step
        fresh = step & ~seen & window
    return reached


def _reached_by_doubling(text: Text, length: int, ends: int, seen: int) -> int:
    """Where all branches are of one length: one step, two, four, eight ..., all at once."""
    steps, far = ends, length
    while steps and seen:
        text.steps += 1
        seen |= (seen & steps) << far
        steps &= steps >> far
        far *= 2
    return (seen & ends) << length
