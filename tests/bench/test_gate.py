"""What has become much dearer does not land."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.gate import BOUNDS, too_dear

_TESTS = Path(__file__).parents[1]


def test_a_figure_over_its_bound_is_too_dear_and_so_is_one_that_was_not_measured() -> None:
    within = dict(BOUNDS)
    over = {**BOUNDS, "press in Slack": BOUNDS["press in Slack"] * 1.01}
    missing = {name: 1.0 for name in BOUNDS if name != "question in both chats"}
    unknown = {**BOUNDS, "press in Telegram": float("nan")}

    assert too_dear(within, BOUNDS) == []
    assert [line.partition(":")[0] for line in too_dear(over, BOUNDS)] == ["press in Slack"]
    assert [line.partition(":")[0] for line in too_dear(missing, BOUNDS)] == [
        "question in both chats"
    ]
    assert [line.partition(":")[0] for line in too_dear(unknown, BOUNDS)] == ["press in Telegram"]


@pytest.mark.timeout(240)
def test_the_gate_measures_and_fails_where_a_bound_is_not_met() -> None:
    """Nothing of ours costs less than the floor, so this bound cannot be met."""
    env = {**os.environ, "PYTHONPATH": str(_TESTS)}
    command = [sys.executable, "-m", "bench.gate", "--only", "press", "--rounds", "1"]

    done = subprocess.run(
        [*command, "--most", "1"], env=env, capture_output=True, text=True, timeout=200
    )

    presses = ["press in Slack", "press in Telegram"]
    assert done.returncode == 1, done.stderr
    assert [line.split(": ")[1] for line in done.stderr.splitlines() if "too dear" in line] == (
        presses
    )
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == presses
