"""Where a glob takes text of anybody's choice, and a sample of what stands around that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sayso.globs.parts import CarefulRun, Chain, Either, Part, Run

# A longer pattern has nothing new to show behind so many stars.
_MOST = 24


class Frame(NamedTuple):
    """What stands before and after one star or repeated set."""

    before: str
    after: str

    def filled(self, text: str) -> str:
        """The sample with this text in the place of the star."""
        return self.before + text + self.after


def frames(part: Part) -> list[Frame]:
    """A frame for each star, with nothing and with a letter in the places of the others."""
    found: dict[Frame, None] = {}
    for other in ("", "x"):
        for number, frame in enumerate(_frames(part, other)):
            if number == _MOST:
                break
            found[frame] = None
    return list(found)


def _frames(part: Part, other: str) -> Iterator[Frame]:
    if isinstance(part, Run | CarefulRun):
        yield Frame("", "")
    elif isinstance(part, Either):
        for one in part.parts:
            yield from _frames(one, other)
    elif isinstance(part, Chain):
        samples = [_sample(one, other) for one in part.parts]
        for at, one in enumerate(part.parts):
            for before, after in _frames(one, other):
                yield Frame("".join(samples[:at]) + before, after + "".join(samples[at + 1 :]))


def _sample(part: Part, other: str) -> str:
    if isinstance(part, CarefulRun):
        return other
    if isinstance(part, Run):
        return part.members.example() if other else ""
    if isinstance(part, Chain):
        return "".join(_sample(one, other) for one in part.parts)
    return _sample(part.parts[0], other) if isinstance(part, Either) else part.sample()
