"""Which core is whose, and what a process has used of it.

What is measured has the last cores to itself; the load, the runs, Valkey and the played platforms
share the first. What a process inherits says nothing about that: its parent keeps to one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_TESTS = Path(__file__).parents[1]
_ALL = "SAYSO_BENCH_CORES"


def all_cores() -> tuple[int, ...]:
    """The cores that this run may use, as its first process found them."""
    found = os.environ.setdefault(_ALL, ",".join(map(str, sorted(os.sched_getaffinity(0)))))
    return tuple(map(int, found.split(",")))


def load_core() -> int:
    """Where the load is."""
    return all_cores()[0]


def measured_core(number: int = 0) -> int:
    """Where the process under test of this number is: a core for each while there are enough."""
    there = all_cores()[1:] or all_cores()
    return there[-1 - number % len(there)]


def take_load_core() -> None:
    """Keep this process, and what it starts from now on, to the core of the load."""
    os.sched_setaffinity(0, {load_core()})


def start_measured(
    words: Sequence[str],
    *,
    number: int = 0,
    env: Mapping[str, str] | None = None,
    log: Path = Path(os.devnull),
) -> subprocess.Popen[bytes]:
    """Start a process under test on a core that is not the load's; what it says goes to a log."""
    core = measured_core(number)
    with log.open("ab") as said:
        return subprocess.Popen(
            [sys.executable, *words],
            cwd=_TESTS.parent,
            env={**os.environ, "PYTHONPATH": str(_TESTS), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used, by its own clock (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)
