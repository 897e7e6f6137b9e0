"""Who waits for which question, in parts, and when each of the parts is looked after."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

from sayso.stores.protocols import Ring

PARTS = 60
"""A question is in one of so many parts, by its id."""

# Nearly always one: without a tuple around it, of which there would be as many.
_Waiting = asyncio.Future[Ring] | tuple[asyncio.Future[Ring], ...]


class Waiters:
    """The futures of those who wait for a question's ending, by its id."""

    def __init__(self) -> None:
        self._parts: list[dict[str, _Waiting]] = [{} for _ in range(PARTS)]

    def __len__(self) -> int:
        """How many questions are waited for."""
        return sum(map(len, self._parts))

    def __contains__(self, question_id: object) -> bool:
        return question_id in self._part(question_id)

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from part

    def add(self, question_id: str, future: asyncio.Future[Ring]) -> None:
        """One more waits for this question."""
        part = self._part(question_id)
        others = _each(part.get(question_id, ()))
        part[question_id] = (*others, future) if others else future

    def discard(self, question_id: str, future: asyncio.Future[Ring]) -> bool:
        """This one waits no longer; whether others still wait for the question."""
        part = self._part(question_id)
        waiting = part.pop(question_id, ())
        if waiting is future:
            return False
        left = tuple(one for one in _each(waiting) if one is not future)
        if left:
            part[question_id] = left
        return bool(left)

    def take(self, question_id: str) -> tuple[asyncio.Future[Ring], ...]:
        """All who wait for the question; they are here no longer."""
        return _each(self._part(question_id).pop(question_id, ()))

    def of(self, part: int) -> list[str]:
        """The questions of one part."""
        return [*self._parts[part]]

    def _part(self, question_id: object) -> dict[str, _Waiting]:
        return self._parts[hash(question_id) % PARTS]


class Rounds:
    """Looks after one part after the other, each of them at least every so many seconds.

    Few questions are looked after in one go, many spread over the time of a round, so that
    neither this process nor its store is ever busy with all of them. The pauses differ by a fifth:
    processes that were started together do not look together for long.
    """

    def __init__(self, waiters: Waiters, seconds: float, *, most: int, now: float) -> None:
        self._waiters = waiters
        self._seconds = seconds
        self._most = most
        self._looked_at = [now] * PARTS
        self._next = 0
        self._pace = seconds

    def turn(self, now: float) -> list[str]:
        """The questions of the next parts: of one, and of more while they are few."""
        questions = self._waiters.of(self._next)
        parts = 1
        self._looked_at[self._next] = now
        while parts < PARTS:
            more = self._waiters.of((self._next + parts) % PARTS)
            if len(questions) + len(more) > self._most:
                break
            questions += more
            self._looked_at[(self._next + parts) % PARTS] = now
            parts += 1
        self._next = (self._next + parts) % PARTS
        self._pace = self._seconds * parts / PARTS
        return questions

    def pause(self, now: float) -> float:
        """The seconds until the next turn."""
        pace = self._pace * random.uniform(0.8, 1.0)  # noqa: S311  jitter
        # Where many have come since, parts that were looked after together are not any more.
        return min(pace, max(self._looked_at[self._next] + self._seconds - now, 0.0))


def _each(waiting: _Waiting) -> tuple[asyncio.Future[Ring], ...]:
    return waiting if isinstance(waiting, tuple) else (waiting,)
