"""What a command's start costs: the processor time of calls that a policy allows.

The floor is what a program in Python that waits for something pays at least: an empty one, and one
that imports asyncio.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from support.hooked import Machine, a_machine, event

ROUNDS = 15
_POLICY = '[[policy]]\nallow = [{ tool = "read" }]\n'


def starting(redis_path: str) -> dict[str, dict[str, float]]:
    """Milliseconds of each command."""
    with TemporaryDirectory() as made:
        url = f"unix://{redis_path}?namespace=start"
        machine = a_machine(Path(made), _POLICY, SAYSO_STORE_URL=url)
        floor = _python("pass") + _python("import asyncio")
        rows = {}
        for name, words, text in (
            ("ask", ("ask", "read"), b""),
            ("hook", ("hook", "claude-code"), event("read")),
        ):
            rows[f"start of {name}"] = _row(floor, _median(machine, words, text))
        return rows


def _row(floor: float, ours: float) -> dict[str, float]:
    return {"floor": floor, "ours": ours, "ratio": ours / floor}


def _median(machine: Machine, words: Sequence[str], text: bytes) -> float:
    command = [str(Path(sys.executable).parent / "sayso"), *words]
    return statistics.median(_milliseconds(command, text, machine.env) for _ in range(ROUNDS))


def _python(code: str) -> float:
    return statistics.median(
        _milliseconds([sys.executable, "-c", code], b"", os.environ) for _ in range(ROUNDS)
    )


def _milliseconds(command: Sequence[str], text: bytes, env: Mapping[str, str]) -> float:
    """The processor time of a process, and of no other."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=text, env=dict(env), stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
