"""What people use instead, beside ours: a decision is stored, and the waiting code goes on.

No HTTP and no chat: somebody decides in one process, on the core of the load, and the code waits in
another. Ways take turns. PostgreSQL is a real server from a wheel; one that cannot be had is said.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from bench.cores import load_core, measured_core, on_cores
from bench.peer_ways import WAYS
from bench.press import quantile

_ROOT = Path(__file__).parents[2]
PYTHON = _ROOT / ".venv-bench" / "bin" / "python"
_OURS = "Sayso"
_PACED, _PER_SECOND, _FULL, _ROUNDS = 100, 50, 300, 3
_POSTGRES = """
import sys, pgserver, tempfile
server = pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
print(server.get_uri(), flush=True)
sys.stdin.read()
server.cleanup()
"""


class _Process:
    """A process that is told what to do, a line at a time."""

    def __init__(self, words: Sequence[str], core: int) -> None:
        self._errors = TemporaryFile("w+")  # noqa: SIM115  as long as the process
        self._process = subprocess.Popen(
            words,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT / "tests")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            preexec_fn=partial(on_cores, {core}),
        )
        self.first = self._line()

    def ask(self, **words: Any) -> dict[str, Any]:
        """Do something, and what came of it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._line())
        return found

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            said = self._errors.read().splitlines()[-1:]
            raise RuntimeError(f"it ended with {self._process.wait()}: {''.join(said)}")
        return line

    def close(self) -> None:
        """End it at once: what still waits is nobody's."""
        self._process.kill()
        self._process.wait()
        self._errors.close()


class _Pair:
    """One way: a process that waits, on the measured core, and one that decides."""

    def __init__(self, way: str, address: str, stack: ExitStack) -> None:
        python = sys.executable if way == _OURS else str(PYTHON)
        words = [python, "-m", "bench.peer", way, address]
        self._waits = _Process(words, measured_core())
        stack.callback(self._waits.close)
        self._decides = _Process(words, load_core())
        stack.callback(self._decides.close)
        self._way = way
        self._batches = count()

    def round(self, most: int, per_second: float | None) -> dict[str, float]:
        """So many decisions: seconds of each, how many a second, and what both processes took."""
        batch = {"batch": f"{self._way}-{next(self._batches)}-{os.getpid()}", "count": most}
        waiting = self._waits.ask(do="wait", **batch)
        decided = self._decides.ask(do="decide", per_second=per_second, **batch)
        gone = self._waits.ask(do="gone", **batch)
        went: Mapping[str, float] = {**decided["gone"], **gone["gone"]}
        moments: Mapping[str, float] = decided["decided"]
        took = [went[name] - at for name, at in moments.items()]
        return {
            "p50": quantile(took, 0.5) / 1e3,
            "p99": quantile(took, 0.99) / 1e3,
            "per_second": most / (max(went[name] for name in moments) - min(moments.values())),
            "cpu": (decided["cpu"] + gone["cpu"] - waiting["cpu"]) / most * 1e6,
        }


def measure(redis_path: str) -> dict[str, Any]:
    """The figures of each way, or why there are none."""
    if not PYTHON.exists():
        raise FileNotFoundError(f"{PYTHON}: `make bench ARGS=peers` installs what people use")
    found: dict[str, Any] = {}
    turns: dict[str, list[tuple[dict[str, float], dict[str, float]]]] = {}
    with ExitStack() as stack:
        pairs: dict[str, _Pair] = {}
        for way in WAYS:
            try:
                pairs[way] = _Pair(way, _address(way, redis_path, stack), stack)
                pairs[way].round(30, None)
            except RuntimeError as error:
                found[way] = {"missing": str(error)}
        for _ in range(_ROUNDS):
            for way in [way for way in pairs if way not in found]:
                try:
                    both = pairs[way].round(_PACED, _PER_SECOND), pairs[way].round(_FULL, None)
                    turns.setdefault(way, []).append(both)
                except RuntimeError as error:
                    found[way] = {"missing": str(error)}
    for way in found:
        turns.pop(way, None)
    for way, those in turns.items():
        found[way] = {
            "p50_ms": statistics.median(paced["p50"] for paced, _ in those),
            "p99_ms": statistics.median(paced["p99"] for paced, _ in those),
            "per_second": statistics.median(full["per_second"] for _, full in those),
            "cpu_us": statistics.median(full["cpu"] for _, full in those),
        }
    return {way: found[way] for way in WAYS}


def _address(way: str, redis_path: str, stack: ExitStack) -> str:
    if "LISTEN" in way or "DBOS" in way:
        # A server each, so that neither meets what the other one does.
        server = _Process([str(PYTHON), "-c", _POSTGRES], load_core())
        stack.callback(server.close)
        return server.first.strip()
    if way == _OURS:
        return f"unix://{redis_path}?namespace=peers"
    return f"unix://{redis_path}" if "LangGraph" in way else redis_path
