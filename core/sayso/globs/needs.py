"""What a value must hold for a glob to match it: enough to leave most values out at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from sayso.globs.parts import (
    Chain,
    Check,
    Either,
    End,
    Literal,
    Look,
    One,
    Part,
    Repeat,
    WordEdge,
)

Texts = frozenset[str]

_MOST_TEXTS = 32
# Longer ones tell values apart no better, and are costly to combine.
_LONGEST = 256
_NONE: Texts = frozenset({""})


@dataclass(frozen=True, slots=True)
class Needs:
    """What is in every value that a part matches.

    One of ``heads`` begins it, one of ``tails`` ends it, and of each of
    ``words`` one is in it somewhere; they may overlap. ``whole``: the heads are
    all that can match.
    """

    heads: Texts = _NONE
    tails: Texts = _NONE
    words: tuple[Texts, ...] = ()
    whole: bool = False

    def allow(self, value: str) -> bool:
        """Whether the value has all of it."""
        return (
            value.startswith(tuple(self.heads))
            and value.endswith(tuple(self.tails))
            and all(any(text in value for text in texts) for texts in self.words)
        )


_ANYTHING = Needs()
_NOTHING = Needs(whole=True)


def needs(part: Part) -> Needs:
    """What every value that the part matches must hold."""
    if isinstance(part, Literal):
        return _whole({part.text})
    if isinstance(part, One):
        members = part.members.members(_MOST_TEXTS)
        return _whole(set(members)) if members else _ANYTHING
    if isinstance(part, Check | End | WordEdge | Look):
        return _NOTHING
    if isinstance(part, Chain):
        found = _NOTHING
        for one in part.parts:
            found = _after(found, needs(one))
        return found
    if isinstance(part, Either):
        return _either([needs(one) for one in part.parts])
    if isinstance(part, Repeat) and part.once:
        once = _either([needs(Chain(tuple(map(One, branch)))) for branch in part.branches])
        return Needs(once.heads, once.tails)
    return _ANYTHING


def _whole(texts: set[str]) -> Needs:
    if max(map(len, texts)) <= _LONGEST:
        return Needs(frozenset(texts), frozenset(texts), whole=True)
    heads, tails = {text[:_LONGEST] for text in texts}, {text[-_LONGEST:] for text in texts}
    return Needs(frozenset(heads), frozenset(tails))


def _after(first: Needs, second: Needs) -> Needs:
    """What a match of the first and then one of the second must hold."""
    if first == _NOTHING:
        return second
    joined = _joined(first.tails, second.heads)
    words = [*first.words, *second.words]
    if first.whole and second.whole and joined is not None:
        return _whole(set(joined))
    if joined is None:
        words += [first.tails, second.heads]
    elif not (first.whole or second.whole):
        words.append(joined)
    heads = joined if first.whole and joined is not None else first.heads
    tails = joined if second.whole and joined is not None else second.tails
    return Needs(_short(heads), _short(tails, end=True), _telling(words))


def _joined(first: Texts, second: Texts) -> Texts | None:
    if len(first) * len(second) > _MOST_TEXTS:
        return None
    return frozenset(a + b for a, b in product(first, second))


def _short(texts: Texts, *, end: bool = False) -> Texts:
    return frozenset(text[-_LONGEST:] if end else text[:_LONGEST] for text in texts)


def _either(branches: list[Needs]) -> Needs:
    whole = all(branch.whole for branch in branches)
    heads = _union(branch.heads for branch in branches)
    tails = _union(branch.tails for branch in branches)
    if whole and heads != _NONE:
        return Needs(heads, tails, whole=True)
    best = _union(max((b.heads, b.tails, *b.words), key=shortest) for b in branches)
    return Needs(heads, tails, _telling([best]))


def _union(texts: Iterable[Texts]) -> Texts:
    """All of them; too many say nothing."""
    found = frozenset[str]().union(*texts)
    return found if len(found) <= _MOST_TEXTS else _NONE


def _telling(words: list[Texts]) -> tuple[Texts, ...]:
    return tuple(dict.fromkeys(texts for texts in words if "" not in texts))


def shortest(texts: Texts) -> int:
    """The length of the shortest, which tells least."""
    return min(map(len, texts))
