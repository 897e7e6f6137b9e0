"""Whether a click, or a whole question, has become much dearer: ``make speed``, in seconds.

The processor time of the bots is compared with that of the same bots as people write them, in the
same run and in turns, so that how busy the machine is meets both. Of several rounds the cheapest
of each side counts: what others do can only add to it. A bound is twice the value that was
measured when it was set.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Collection, Mapping, Sequence

from bench.processes import NotQuietError, a_world, take_load_core
from bench.question import EVERYDAY, SAYSO, Asker, Side, asking

BOUNDS = {"click in Slack": 3.6, "click in Telegram": 3.1, "question in both chats": 4.6}
"""How many times the processor time of bots as people write them each may take."""

_CLICKS, _QUESTIONS, _ROUNDS = 50, 64, 2


def find_too_dear(ratios: Mapping[str, float], bounds: Mapping[str, float]) -> list[str]:
    """Return a line for each figure over its bound; one that was not measured is over any."""
    lines = []
    for name, most in bounds.items():
        ratio = ratios.get(name, float("inf"))
        if not ratio <= most:
            lines.append(f"{name}: {ratio:.2f} times bots as people write them, at most {most:g}")
    return lines


async def measure(names: Collection[str], rounds: int) -> dict[str, float]:
    """Return the ratio of each of these figures."""
    cheapest: dict[tuple[str, str], float] = {}
    with a_world() as world:
        async with asking(world, (SAYSO, EVERYDAY)) as (asker, sides):
            for _ in range(rounds):
                for name in names:
                    for kind, side in sides.items():
                        cpu = await _cpu(name, asker, side)
                        cheapest[name, kind] = min(cpu, cheapest.get((name, kind), cpu))
    return {name: cheapest[name, SAYSO] / cheapest[name, EVERYDAY] for name in names}


async def _cpu(name: str, asker: Asker, side: Side) -> float:
    what, _, where = name.partition(" in ")
    if what == "click":
        return (await asker.clicks(side, where.lower(), _CLICKS, per_second=200)).cpu
    return await asker.questions_cpu(side, _QUESTIONS)


def main(argv: Sequence[str]) -> int:
    """Measure and print; 1 when something is too dear, 2 when nothing can be measured."""
    parser = argparse.ArgumentParser(prog="make speed")
    parser.add_argument("--most", type=float, help="one bound for all, in place of theirs")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="the cheapest of so many")
    parser.add_argument("--only", choices=["click", "question"])
    args = parser.parse_args(argv)
    bounds = {
        name: most if args.most is None else float(args.most)
        for name, most in BOUNDS.items()
        if name.startswith(args.only or "")
    }
    take_load_core()
    try:
        ratios = asyncio.run(measure(bounds, args.rounds))
    except NotQuietError as error:
        print(f"make speed: {error}", file=sys.stderr)
        return 2
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f} times bots as people write them, at most {bounds[name]:g}")
    lines = find_too_dear(ratios, bounds)
    for line in lines:
        print(f"too dear: {line}", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
