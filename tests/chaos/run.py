"""``make chaos``: agents ask and people press while processes and servers are killed, held and cut.

``python -m chaos.run [--seconds 120] [--seed N] [--only NAME] [--at-once N]``. The seed that is
printed plays the same troubles again, though not to the millisecond. Ends with 1 when a promise was
broken; the logs of the bots are kept then.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from chaos.play import SETTLING_SECONDS, Play, Played
from support import topologies
from support.topologies import Topology

Store = Callable[[], AbstractAsyncContextManager[Topology]]

# A store, and whether the platforms are reached over sockets and by polling instead of webhooks.
_PLAYS: tuple[tuple[str, Store, bool], ...] = (
    ("single", topologies.single, False),
    ("sentinel", topologies.sentinel, True),
    ("cluster", topologies.cluster, False),
)

_LEAST_SECONDS = 8.0


def main(argv: Sequence[str]) -> int:
    """Play all of them, or the one that is named; the exit code."""
    parser = argparse.ArgumentParser(prog="make chaos")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long, all in all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", choices=[name for name, _, _ in _PLAYS])
    parser.add_argument("--at-once", type=int, default=1, help="how many plays beside each other")
    args = parser.parse_args(argv)
    if args.at_once > 1 and args.only is None:
        return _beside_each_other(args.seed, args.seconds / len(_PLAYS), args.at_once)
    logging.disable(logging.CRITICAL)
    chosen = [play for play in _PLAYS if args.only in (None, play[0])]
    print(f"seed {args.seed}", flush=True)
    broken = 0
    for number, (name, make, sockets) in enumerate(chosen):
        folder = Path(tempfile.mkdtemp(prefix=f"sayso-chaos-{name}-"))
        seconds = max(_LEAST_SECONDS, args.seconds / len(chosen) - SETTLING_SECONDS)
        played = asyncio.run(_played(make, args.seed + number, folder, seconds, sockets=sockets))
        _print(name, played)
        if played.problems:
            broken += 1
            print(f"  the logs of the bots: {folder}")
        else:
            shutil.rmtree(folder)
    return 1 if broken else 0


def _beside_each_other(seed: int, seconds: float, at_once: int) -> int:
    """Each play in a process of its own, so many at a time, told in their order; the exit code."""

    def play(number: int, name: str) -> subprocess.CompletedProcess[str]:
        words = ("--only", name, "--seed", str(seed + number), "--seconds", str(seconds))
        command = (sys.executable, "-m", "chaos.run", *words)
        return subprocess.run(command, capture_output=True, text=True, check=False)

    names = [name for name, _, _ in _PLAYS]
    with ThreadPoolExecutor(at_once) as pool:
        ended = [*pool.map(play, range(len(names)), names)]
    for one in ended:
        print(one.stdout, one.stderr, sep="", end="", flush=True)
    return max(abs(one.returncode) for one in ended)


async def _played(make: Store, seed: int, folder: Path, seconds: float, *, sockets: bool) -> Played:
    async with make() as topology:
        return await Play(topology, sockets, seed, folder).run(seconds)


def _print(name: str, played: Played) -> None:
    print(f"{name}: {'BROKEN' if played.problems else 'all promises kept'}")
    for figure, number in sorted(played.figures.items()):
        print(f"  {number:6,d}  {figure}")
    for problem in played.problems:
        print(f"  BROKEN  {problem}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
