"""Who waits for which question, and when the store is looked at for them."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise

from support.clock import Clock

from sayso.calls import new_id
from sayso.stores.protocols import Ring
from sayso.stores.waiters import PARTS, Rounds, Waiters

SECONDS = 60.0


def future() -> asyncio.Future[Ring]:
    return asyncio.get_running_loop().create_future()


def those_who_wait(count: int) -> tuple[Waiters, list[str]]:
    waiters = Waiters()
    names = [new_id() for _ in range(count)]
    for name in names:
        waiters.add(name, future())
    return waiters, names


class Watched:
    """Rounds by a clock of their own, and when each question was looked after."""

    def __init__(self, waiters: Waiters, most: int = 100) -> None:
        self._clock = Clock(0.0)
        self._rounds = Rounds(waiters, SECONDS, most=most, now=0.0)
        self.turns: list[tuple[float, list[str]]] = []

    @property
    def now(self) -> float:
        return self._clock.seconds()

    def one(self) -> list[str]:
        self._clock.pass_by(self._rounds.pause(self.now))
        questions = self._rounds.turn(self.now)
        self.turns.append((self.now, questions))
        return questions

    def until(self, moment: float) -> None:
        while self.now + self._rounds.pause(self.now) < moment:
            self.one()

    def looks(self, question_id: str) -> list[float]:
        return [at for at, questions in self.turns if question_id in questions]


async def test_each_who_waits_for_a_question_is_given_back_once() -> None:
    waiters = Waiters()
    first, second, third = future(), future(), future()
    for one in (first, second, third):
        waiters.add("q", one)
    waiters.add("another", future())
    waiters.discard("q", second)
    waiters.discard("unknown", second)

    assert "q" in waiters
    assert len(waiters) == 2
    assert waiters.take("q") == (first, third)
    assert waiters.take("q") == ()
    assert "q" not in waiters
    assert [*waiters] == ["another"]


async def test_a_question_that_the_last_one_left_is_gone() -> None:
    waiters, (name,) = those_who_wait(1)
    (one,) = waiters.take(name)
    waiters.add(name, one)
    waiters.discard(name, one)

    assert name not in waiters
    assert len(waiters) == 0


async def test_few_are_looked_after_in_one_go_a_round() -> None:
    waiters, names = those_who_wait(90)
    watched = Watched(waiters)

    for _ in range(3):
        assert sorted(watched.one()) == sorted(names)
    moments = [at for at, _ in watched.turns]
    pauses = [after - before for before, after in pairwise(moments)]
    assert all(0.8 * SECONDS <= pause <= SECONDS for pause in pauses)


async def test_many_are_spread_over_the_round_and_each_is_looked_after_once() -> None:
    waiters, names = those_who_wait(6_000)
    watched = Watched(waiters)

    turns = [watched.one() for _ in range(PARTS)]

    assert Counter(name for turn in turns for name in turn) == Counter(names)
    assert max(map(len, turns)) < 200
    assert 0.8 * SECONDS <= watched.now <= SECONDS


async def test_nobody_is_left_alone_for_longer_than_a_round_however_many_come_and_go() -> None:
    waiters, names = those_who_wait(50)
    watched = Watched(waiters)
    watched.until(3 * SECONDS)
    # From now on they are looked after one part after the other, and then together again.
    more = {name: future() for name in (new_id() for _ in range(6_000))}
    for name, one in more.items():
        waiters.add(name, one)
    watched.until(6 * SECONDS)
    for name, one in more.items():
        waiters.discard(name, one)
    watched.until(9 * SECONDS)

    for name in names:
        looks = [0.0, *watched.looks(name)]
        pauses = [after - before for before, after in pairwise(looks)]
        assert max(pauses) <= SECONDS + 0.001
        assert looks[-1] >= 8 * SECONDS
    for name in more:
        assert 3 * SECONDS - 60 <= watched.looks(name)[0] <= 4 * SECONDS + 0.001


async def test_after_many_came_at_once_they_are_soon_spread_again() -> None:
    waiters, _ = those_who_wait(50)
    watched = Watched(waiters)
    watched.until(2 * SECONDS)
    for _ in range(6_000):
        waiters.add(new_id(), future())
    watched.until(4 * SECONDS)
    before = len(watched.turns)
    watched.until(5 * SECONDS)

    a_second = Counter(int(at) for at, turn in watched.turns[before:] if turn)
    assert max(a_second.values()) <= 3
