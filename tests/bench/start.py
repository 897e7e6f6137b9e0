"""What a command's start costs: the processor time of calls that a policy allows, helper and all.

The floor is what a program in Python that waits for something pays at least: an empty one, and one
that imports asyncio.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from support.helpers import runtime_folder
from support.hooked import Machine, a_machine, event

ROUNDS = 15
_POLICY = '[[policy]]\nallow = [{ tool = "read" }]\n'


def starting(redis_path: str) -> dict[str, dict[str, float]]:
    """Milliseconds of each command, of the helper for each, and of the same without a helper."""
    with TemporaryDirectory() as made, runtime_folder() as runtime:
        folder = Path(made)
        url = f"unix://{redis_path}?namespace=start"
        machine = a_machine(folder, runtime, _POLICY, SAYSO_STORE_URL=url)
        _one(machine, ("ask", "read"))
        while not machine.listens():
            time.sleep(0.05)
        floor = _python("pass") + _python("import asyncio")
        rows = {}
        for name, words, text in (
            ("ask", ("ask", "read"), b""),
            ("hook", ("hook", "claude-code"), event("read")),
        ):
            before = _used(machine.helper())
            rows[f"start of {name}"] = _row(floor, _median(machine, words, text))
            spent = (_used(machine.helper()) - before) / ROUNDS
            rows[f"the helper for {name}"] = _row(floor, spent)
            alone = {**machine.env, "SAYSO_HELPER": "off"}
            rows[f"{name} without it"] = _row(floor, _median(machine, words, text, alone))
        return rows


def _row(floor: float, ours: float) -> dict[str, float]:
    return {"floor": floor, "ours": ours, "ratio": ours / floor}


def _median(
    machine: Machine,
    words: Sequence[str],
    text: bytes,
    env: Mapping[str, str] | None = None,
) -> float:
    return statistics.median(_one(machine, words, text, env) for _ in range(ROUNDS))


def _one(
    machine: Machine,
    words: Sequence[str],
    text: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> float:
    command = [str(Path(sys.executable).parent / "sayso"), *words]
    return _milliseconds(command, text, machine.env if env is None else env)


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


def _used(process: int) -> float:
    """The processor time that a process has used until now."""
    facts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(facts[11]) + int(facts[12])) * 1e3 / os.sysconf("SC_CLK_TCK")
