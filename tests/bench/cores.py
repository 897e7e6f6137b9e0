"""Which core is whose, and what a process has used of it.

What is measured has the last cores to itself; the load, the runs, Valkey and the played platforms
share the first. What a process inherits says nothing about that: its parent keeps to one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from support.valkey_server import end_with_parent

_TESTS = Path(__file__).parents[1]
_ALL = "SAYSO_BENCH_CORES"


def all_cores() -> tuple[int, ...]:
    """The cores that this run may use, as its first process found them."""
    found = os.environ.setdefault(_ALL, ",".join(map(str, sorted(os.sched_getaffinity(0)))))
    return tuple(map(int, found.split(",")))


def load_core() -> int:
    """Where the load is."""
    return all_cores()[0]


def measured_cores() -> tuple[int, ...]:
    """What is left for the processes under test, the last one first."""
    return tuple(reversed(all_cores()[1:] or all_cores()))


def measured_core(number: int = 0) -> int:
    """Where the process under test of this number is: a core for each while there are enough."""
    there = measured_cores()
    return there[number % len(there)]


def take_load_core() -> None:
    """Keep this process, and what it starts from now on, to the core of the load."""
    os.sched_setaffinity(0, {load_core()})


def start_measured(
    words: Sequence[str],
    *,
    number: int | None = 0,
    env: Mapping[str, str] | None = None,
    log: Path = Path(os.devnull),
) -> subprocess.Popen[bytes]:
    """Start a process under test on a core that is not the load's; what it says goes to a log.

    Without a number it has all of those, for processes of its own.
    """
    cores = measured_cores() if number is None else (measured_core(number),)
    with log.open("ab") as said:
        return subprocess.Popen(
            [sys.executable, *words],
            cwd=_TESTS.parent,
            env={**os.environ, "PYTHONPATH": str(_TESTS), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=partial(on_cores, cores),
        )


def on_cores(cores: Collection[int]) -> None:
    """In a new process, before its command: its cores, and that it ends with its parent."""
    os.sched_setaffinity(0, cores)
    end_with_parent()


def cpu_seconds(pid: int) -> float:
    """The processor time that a process and its own have used, by their clocks.

    The number of such a clock is made of the process's (clock_getcpuclockid).
    """
    threads = Path(f"/proc/{pid}/task")
    found = [path.read_text().split() for path in threads.glob("*/children")]
    children = (int(child) for some in found for child in some)
    return time.clock_gettime((~pid << 3) | 2) + sum(map(cpu_seconds, children))
