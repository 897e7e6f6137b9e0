"""What is measured runs on a core of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_TESTS = Path(__file__).parents[1]
_PARENT = """
import json, os
from bench.cores import cpu_seconds, start_measured, take_load_core
take_load_core()
child = start_measured(["-c", "while True: pass"])
while cpu_seconds(child.pid) < 0.05:
    assert child.poll() is None
cores = [sorted(os.sched_getaffinity(pid)) for pid in (0, child.pid)]
child.kill()
print(json.dumps(cores))
"""


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="there is one core",
)
def test_what_is_measured_has_another_core_than_the_load_though_its_parent_keeps_to_that() -> None:
    env = {**os.environ, "PYTHONPATH": str(_TESTS)}
    done = subprocess.run(
        [sys.executable, "-c", _PARENT], env=env,
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip

    load, measured = json.loads(done.stdout)

    assert len(load) == len(measured) == 1
    assert load != measured
