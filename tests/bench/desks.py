"""What several processes of the bots on one store do, beside one, and beside as many on their own.

Each has as much to do as one alone: as many presses and questions, and as many of them at a time.
Where the machine has fewer cores than there are processes, they share them, which costs each of
them more than a core of its own would. *Apart* says how much: as many processes, on the same cores,
with the same to do, each on a store of its own. What is dearer than that is taken for the price of
one store, so that what several do on cores of their own is reckoned there, and not seen.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from bench.press import CONNECTIONS, FULL, WARM_UP, Side, one_round, press_sides, rounds_at_once
from bench.question import AT_ONCE, QUESTIONS_AT_ONCE, Asker, ask_many, question_sides
from bench.question import Side as Asking
from bench.under_test import UnderTest, under_test

DESKS = (1, 2, 3)
_ROUNDS = 3
_QUESTIONS = 100


@dataclass
class _Turns:
    """What was measured, a value a round: of one store for all, and of a store for each."""

    per_second: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)

    def times_one(self, processes: int) -> list[float]:
        """How many times what one does so many do: the median of the rounds, least and most."""
        pairs = zip(self.apart, self.cpu, strict=True)
        ratios = [processes * apart / together for apart, together in pairs]
        return [statistics.median(ratios), min(ratios), max(ratios)]


async def measure(redis_path: str) -> list[dict[str, Any]]:
    """Presses and whole questions."""
    with under_test(redis_path) as tools:
        asker = Asker(tools)
        async with AsyncExitStack() as stack:
            pressed = await _pressed(tools, stack)
            asked = await _asked(tools, await asker.chats.start(), stack, asker)
    return [_row(count, pressed[count], asked[count]) for count in DESKS]


def _row(count: int, pressed: _Turns, asked: _Turns) -> dict[str, Any]:
    return {
        "desks": count,
        "presses_per_second": statistics.median(pressed.per_second),
        "cpu_us_a_press": statistics.median(pressed.cpu) * 1e6,
        "cpu_us_a_press_apart": statistics.median(pressed.apart) * 1e6,
        "presses_of_one": pressed.times_one(count),
        "questions_per_second": statistics.median(asked.per_second),
        "cpu_ms_a_question": statistics.median(asked.cpu),
        "cpu_ms_a_question_apart": statistics.median(asked.apart),
        "questions_of_one": asked.times_one(count),
    }


async def _pressed(tools: UnderTest, stack: AsyncExitStack) -> dict[int, _Turns]:
    async def side(name: str, count: int) -> Side:
        return (await press_sides(tools, stack, name=name, floors=(), desks=count))["Sayso, Slack"]

    together = {count: await side(f"together-{count}", count) for count in DESKS}
    alone = [await side(f"apart-{number}", 1) for number in DESKS]
    for cold in (*together.values(), *alone):
        await one_round(cold, WARM_UP)
    found = {count: _Turns() for count in DESKS}
    for _ in range(_ROUNDS):
        for count, turns in found.items():
            load = replace(FULL, count=FULL.count * count)
            (one,) = await rounds_at_once([together[count]], load, connections=CONNECTIONS * count)
            turns.per_second.append(one.per_second)
            turns.cpu.append(one.cpu)
            apart = await rounds_at_once(alone[:count], FULL)
            turns.apart.append(statistics.mean(one.cpu for one in apart))
    return found


async def _asked(
    tools: UnderTest, chats: int, stack: AsyncExitStack, asker: Asker
) -> dict[int, _Turns]:
    async def side(name: str, processes: int = 1) -> Asking:
        sides = await question_sides(
            tools, chats, stack, name=name, only=(AT_ONCE,), processes=processes
        )
        return sides[AT_ONCE]

    together = {count: await side(f"processes-{count}", count) for count in DESKS}
    alone = [await side(f"apart-{number}") for number in DESKS]
    for cold in (*together.values(), *alone):
        await ask_many(asker, cold, _QUESTIONS)
    found = {count: _Turns() for count in DESKS}
    for _ in range(_ROUNDS):
        for count, turns in found.items():
            apart = await _apart(asker, alone[:count])
            cpu, per_second = await ask_many(
                asker, together[count], _QUESTIONS * count, at_once=QUESTIONS_AT_ONCE * count
            )
            turns.per_second.append(per_second)
            turns.cpu.append(cpu)
            turns.apart.append(apart)
    return found


async def _apart(asker: Asker, sides: Sequence[Asking]) -> float:
    """Milliseconds of the processor a question of several sides that are asked at the same time."""
    asked = await asyncio.gather(*(ask_many(asker, side, _QUESTIONS) for side in sides))
    return statistics.mean(cpu for cpu, _ in asked)
