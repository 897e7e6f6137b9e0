"""``make fuzz``: hostile calls on every door, for so many seconds, the same ones for the same seed.

``python -m fuzz.run [--seconds 60] [--seed N] [--only TARGET] [--case N]``. Both webhooks, signed
and not, the hosted API, bytes that are hardly HTTP, envelopes of Socket Mode, settings, schemas.
Nothing is answered with 5xx, no traceback, secret or body is logged, the process stays quick, does
not grow, and an approver still decides in the end. Ends with 1 when that is not so, with the line
that does it again; what a call does may depend on what is open then.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from random import Random

from fuzz.inside import INSIDE, Envelopes, tried
from fuzz.targets import MAKERS, Surroundings
from fuzz.world import GROWN_BYTES, LOOP_SECONDS, World, a_world

ENVELOPES = "envelopes"
TARGETS = (*MAKERS, ENVELOPES, *INSIDE)
# How many calls are under way at once, and how many are made before the log is looked at.
_AT_ONCE = 8
_AT_A_TIME = 64


@dataclass
class Tally:
    """What came of it."""

    seed: int
    tried: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def count(self, target: str) -> None:
        """One more call."""
        self.tried[target] = self.tried.get(target, 0) + 1

    def failed(self, target: str, number: int, problem: str) -> None:
        """A call showed a mistake."""
        again = f'make fuzz ARGS="--seed {self.seed} --only {target} --case {number}"'
        self.problems.append(f"{target} {number}: {problem}\n    again: {again}")


def main(argv: Sequence[str]) -> int:
    """Try all targets, or the one that is named; the exit code."""
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, all in all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--case", type=int, help="one call alone; needs --only")
    args = parser.parse_args(argv)
    if args.case is not None and args.only is None:
        parser.error("--case needs --only")
    logging.getLogger().setLevel(logging.CRITICAL)
    print(f"seed {args.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="sayso-fuzz-"))
    tally = Tally(args.seed)
    targets = [args.only] if args.only else list(TARGETS)
    asyncio.run(_all(tally, targets, args.seconds, args.case, folder))
    if tally.problems:
        print(f"the log of the bots: {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if tally.problems else 0


async def _all(
    tally: Tally, targets: Sequence[str], seconds: float, case: int | None, folder: Path
) -> None:
    began = time.monotonic()
    async with a_world(folder) as world:
        resident = world.resident()
        watching = asyncio.create_task(world.watched())
        try:
            for place, target in enumerate(targets):
                # What one leaves over, the others may use.
                left = seconds - (time.monotonic() - began)
                until = time.monotonic() + max(0.1, left) / (len(targets) - place)
                numbers = count() if case is None else iter([case])
                await _target(tally, world, target, _while(numbers, until, case))
        finally:
            watching.cancel()
        _look_at_process(tally, world, resident)
        if problem := await world.works():
            tally.problems.append(problem)
        _print(tally, world, resident)


def _while(numbers: Iterator[int], until: float, case: int | None) -> Iterator[int]:
    """These numbers until the time is over; the first of them whenever that is."""
    for number in numbers:
        yield number
        if case is None and time.monotonic() >= until:
            return


def _look_at_process(tally: Tally, world: World, before: int) -> None:
    if world.process.returncode is not None:
        tally.problems.append(f"the process ended with {world.process.returncode}")
        return
    if (grown := world.resident() - before) > GROWN_BYTES:
        tally.problems.append(f"the process grew by {grown // 2**20} MiB")
    if world.slowest > LOOP_SECONDS:
        tally.problems.append(
            f"/healthz waited for {world.slowest:.1f} s of work, at {world.slowest_at}"
        )


async def _target(tally: Tally, world: World, target: str, numbers: Iterator[int]) -> None:
    world.trying = target
    if target in MAKERS:
        await _over_http(tally, world, target, numbers)
        return
    there = await world.known()
    async with Envelopes() as envelopes:
        for number in numbers:
            rng = _rng(tally, target, number)
            if target == ENVELOPES:
                problem = await envelopes.tried(rng, there)
            else:
                problem = tried(INSIDE[target], rng)
                await asyncio.sleep(0)
            tally.count(target)
            if problem:
                tally.failed(target, number, problem)
            if len(tally.problems) >= 10:
                return


async def _over_http(tally: Tally, world: World, target: str, numbers: Iterator[int]) -> None:
    while batch := list(islice(numbers, _AT_A_TIME)):
        there = await world.known()
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(number: int, there: Surroundings, room: asyncio.Semaphore) -> None:
            async with room:
                tally.count(target)
                call = MAKERS[target](_rng(tally, target, number), there)
                if problem := await world.answer(call):
                    tally.failed(target, number, problem)

        await asyncio.gather(*(one(number, there, room) for number in batch))
        if problem := world.logged():
            number = await _who(world, target, tally, batch, there)
            tally.failed(target, number, problem)
        if len(tally.problems) >= 10:
            return


async def _who(
    world: World, target: str, tally: Tally, batch: Sequence[int], there: Surroundings
) -> int:
    """Which call of these is logged as it must not be: each is made again, alone."""

    async def again(number: int) -> str:
        await world.answer(MAKERS[target](_rng(tally, target, number), there))
        await asyncio.sleep(0.05)
        return world.logged()

    for number in batch:
        if await again(number):
            return number
    return batch[0]


def _rng(tally: Tally, target: str, number: int) -> Random:
    return Random(f"{tally.seed}/{target}/{number}")


def _print(tally: Tally, world: World, resident: int) -> None:
    for target, times in tally.tried.items():
        print(f"  {times:7,d}  {target}")
    answers = ", ".join(f"{name}: {times:,}" for name, times in sorted(world.figures.items()))
    print(f"  answers  {answers}")
    if world.process.returncode is None:
        grown = (world.resident() - resident) / 2**20
        slowest = f"{world.slowest * 1_000:.0f} ms of work ({world.slowest_at})"
        print(f"  /healthz waited for at most {slowest}, memory {grown:+.0f} MiB")
    for problem in tally.problems:
        print(f"  FAILED  {problem}")
    print("FAILED" if tally.problems else "all of it was survived", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
