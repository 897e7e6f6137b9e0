"""Whether a press, or a whole question, has become much dearer: ``make speed``, in seconds.

Each is compared with the tight floor in the same run, one after the other over one connection, so
that how busy the machine is meets both. Of several rounds, the cheapest of each side counts: what
others do can only add to it. The bounds are generous; what is dear shows in ``make bench``.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack

from bench.cores import take_load_core
from bench.press import Load, Side, one_round, press_sides
from bench.question import LEAN, SAYSO, Asker, ask_many, question_sides
from bench.under_test import UnderTest, under_test
from support.valkey_server import Valkey

BOUNDS = {"press in Slack": 44.0, "press in Telegram": 44.0, "question in both chats": 40.0}
"""How many times the processor time of the tight floor a press and a whole question may take."""

_ROUNDS = 3
_PRESSES = Load("one by one", 100, None)
_QUESTIONS = 12


def too_dear(ratios: Mapping[str, float], bounds: Mapping[str, float]) -> list[str]:
    """A line for each figure that is over its bound; one that was not measured is over any."""
    found = []
    for name, most in bounds.items():
        ratio = ratios.get(name, float("inf"))
        if not ratio <= most:
            found.append(f"{name}: {ratio:.1f} times the tight floor, at most {most:g}")
    return found


async def measured(redis_path: str, kinds: Collection[str], rounds: int) -> dict[str, float]:
    """The ratio of each figure of these kinds."""
    found: dict[str, float] = {}
    with under_test(redis_path) as tools:
        async with AsyncExitStack() as stack:
            for kind, measure in {"press": _presses, "question": _questions}.items():
                if kind in kinds:
                    found |= await measure(tools, stack, rounds)
    return found


async def _presses(tools: UnderTest, stack: AsyncExitStack, rounds: int) -> dict[str, float]:
    sides = await press_sides(tools, stack, floors=("tight floor",))
    least: dict[str, float] = {}
    for number in range(1 + rounds):
        for name, side in sides.items():
            cpu = await _cpu(side)
            if number:  # the first one is to get warm
                least[name] = min(least.get(name, cpu), cpu)
    return {
        f"press in {chat}": least[f"Sayso, {chat}"] / least[f"tight floor, {chat}"]
        for chat in ("Slack", "Telegram")
    }


async def _cpu(side: Side) -> float:
    return (await one_round(side, _PRESSES, connections=1)).cpu


async def _questions(tools: UnderTest, stack: AsyncExitStack, rounds: int) -> dict[str, float]:
    asker = Asker(tools)
    chats = await asker.chats.start()
    sides = await question_sides(tools, chats, stack, only=(LEAN, SAYSO))
    least: dict[str, float] = {}
    for number in range(1 + rounds):
        for name, side in sides.items():
            cpu, _ = await ask_many(asker, side, _QUESTIONS, at_once=4)
            if number:
                least[name] = min(least.get(name, cpu), cpu)
    return {"question in both chats": least[SAYSO] / least[LEAN]}


def main(argv: Sequence[str]) -> int:
    """Measure and print; 1 when something is too dear."""
    parser = argparse.ArgumentParser(prog="make speed")
    parser.add_argument("--most", type=float, help="one bound for all, in place of theirs")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="the cheapest of so many")
    parser.add_argument("--only", choices=["press", "question"])
    args = parser.parse_args(argv)
    kinds = ["press", "question"] if args.only is None else [args.only]
    bounds = {
        name: most if args.most is None else float(args.most)
        for name, most in BOUNDS.items()
        if name.split()[0] in kinds
    }
    take_load_core()
    server = Valkey(unixsocket="valkey.sock", unixsocketperm="700", password="")
    server.start()
    try:
        ratios = asyncio.run(measured(str(server.folder / "valkey.sock"), kinds, args.rounds))
    finally:
        server.close()
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.1f} times the tight floor, at most {bounds[name]:g}")
    problems = too_dear(ratios, bounds)
    for problem in problems:
        print(f"too dear: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
