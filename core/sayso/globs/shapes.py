"""Globs that are texts with stars between them, or a few of those: tested by looking for the texts.

Only for values in which a star may take anything: without line breaks and,
where hidden names matter, without those.
"""

from __future__ import annotations

from dataclasses import dataclass

from sayso.globs.parts import FOLDERS, CarefulRun, Chain, Check, Either, Literal, Part, Run
from sayso.globs.sets import ANY, DOT

_MOST = 16


@dataclass(frozen=True, slots=True)
class Shape:
    """Texts with a star between each and the next; ``careful`` if hidden names matter."""

    pieces: tuple[str, ...]
    careful: bool = False

    def then(self, other: Shape) -> Shape:
        """This shape followed by the other."""
        join = self.pieces[-1] + other.pieces[0]
        pieces = (*self.pieces[:-1], join, *other.pieces[1:])
        return Shape(pieces, self.careful or other.careful)

    def fits(self, value: str) -> bool:
        """Whether the value holds the texts in order, with anything between them."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return value == first
        if not value.endswith(last) or not value.startswith(first):
            return False
        at = len(first)
        for piece in self.pieces[1:-1]:
            at = value.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return len(value) >= at + len(last)


_HIDDEN = Shape(("",), careful=True)
_STAR = Shape(("", ""))
_CAREFUL_STAR = Shape(("", ""), careful=True)


def shapes(part: Part) -> tuple[Shape, ...]:
    """The shapes one of which a value must fit; empty where the part is more than that."""
    return tuple(dict.fromkeys(_shapes(part) or ()))


def _shapes(part: Part) -> list[Shape] | None:
    if isinstance(part, Literal):
        return [Shape((part.text,))]
    if isinstance(part, Check) and part.members is DOT and not part.wanted:
        return [_HIDDEN]
    if isinstance(part, CarefulRun):
        return [_CAREFUL_STAR]
    if isinstance(part, Run) and part.members is ANY:
        return [_STAR]
    if isinstance(part, Either):
        found: list[Shape] = []
        for one in part.parts:
            more = _shapes(one)
            if more is None or len(found) + len(more) > _MOST:
                return None
            found += more
        return found
    return _in_order(part.parts) if isinstance(part, Chain) else None


def _in_order(parts: tuple[Part, ...]) -> list[Shape] | None:
    found = [Shape(("",))]
    for index, one in enumerate(parts):
        if one is FOLDERS and _star_follows(parts[index + 1 :]):
            more: list[Shape] | None = [_HIDDEN]  # without hidden names, `**/*` is `*`
        else:
            more = _shapes(one)
        if more is None or len(found) * len(more) > _MOST:
            return None
        found = [shape.then(other) for shape in found for other in more]
    return found


def _star_follows(parts: tuple[Part, ...]) -> bool:
    after = next((part for part in parts if not isinstance(part, Check)), None)
    return isinstance(after, CarefulRun) or (isinstance(after, Run) and after.members is ANY)
