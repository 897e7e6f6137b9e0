"""How the figures change with the number of desks, of rules and of questions."""

from __future__ import annotations

import statistics
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bench.asking import deciding
from bench.press import FULL, Result, Side, one_round, press_sides
from bench.question import AT_ONCE, Asker, ask_many, question_sides
from bench.under_test import UnderTest, under_test

DESKS = (1, 2, 3)
RULES = (10, 100, 1_000, 10_000)
_MIXES = ("prefixes", "ordinary", "folders")
_ROUNDS = 3
_QUESTIONS = 100


async def desks(redis_path: str) -> list[dict[str, Any]]:
    """Presses and whole questions of so many bots' processes on one store, each on a core.

    Where there are fewer cores than processes, they share them: then the processor time says what
    more of them cost, and what they do a second does not grow.
    """
    with under_test(redis_path) as tools:
        async with AsyncExitStack() as stack:
            presses = {count: await _pressed(tools, stack, count) for count in DESKS}
            asker = Asker(tools)
            chats = await asker.chats.start()
            ways = [("processes", count) for count in DESKS]
            if _knows_workers():
                ways += [("workers", count) for count in DESKS]
            asked = {
                (way, count): (
                    await question_sides(tools, chats, stack, only=(AT_ONCE,), **{way: count})
                )[AT_ONCE]
                for way, count in ways
            }
            pressed: dict[int, list[Result]] = {count: [] for count in DESKS}
            questions: dict[tuple[str, int], list[tuple[float, float]]] = {way: [] for way in ways}
            for _ in range(_ROUNDS):
                for count, side in presses.items():
                    pressed[count].append(await one_round(side, FULL))
                for way, asking in asked.items():
                    questions[way].append(await ask_many(asker, asking, _QUESTIONS))
    return [
        {
            "desks": count,
            "presses_per_second": _median([one.per_second for one in pressed[count]]),
            "cpu_us_a_press": _median([one.cpu * 1e6 for one in pressed[count]]),
            **{
                f"questions_per_second_of_{way}": _median([one[1] for one in questions[way, count]])
                for way in dict.fromkeys(way for way, _ in ways)
            },
            **{
                f"cpu_ms_a_question_of_{way}": _median([one[0] for one in questions[way, count]])
                for way in dict.fromkeys(way for way, _ in ways)
            },
        }
        for count in DESKS
    ]


async def _pressed(tools: UnderTest, stack: AsyncExitStack, count: int) -> Side:
    return (await press_sides(tools, stack, floors=(), desks=count))["Sayso, Slack"]


def _knows_workers() -> bool:
    """Whether one ``sayso serve`` can be several processes."""
    command = [str(Path(sys.executable).with_name("sayso")), "serve", "--help"]
    return "--workers" in subprocess.run(command, capture_output=True, text=True).stdout


def _median(values: list[float]) -> float:
    return statistics.median(values)


def rules() -> list[dict[str, Any]]:
    """What a decision takes with so many rules, by what they are like."""
    rows = []
    for count in RULES:
        for mix in _MIXES:
            found = deciding(mix, count)
            rows.append(
                {
                    "rules": count,
                    "mix": mix,
                    "last_us": found[f"deciding_{mix}_{count}_last_us"]["ours"],
                    "none_us": found[f"deciding_{mix}_{count}_none_us"]["ours"],
                    "last_of_re_us": found[f"deciding_{mix}_{count}_last_beside_re_us"]["floor"],
                }
            )
    return rows
