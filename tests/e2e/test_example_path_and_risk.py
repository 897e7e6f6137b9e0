"""The worked example: a policy by path and by risk, with its own question and its own state."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MAIN = Path(__file__).parents[2] / "examples" / "path_and_risk" / "main.py"


@pytest.fixture(scope="module")
def printed() -> list[str]:
    done = subprocess.run(
        [sys.executable, str(MAIN)], capture_output=True, text=True, check=True, timeout=30
    )
    lines = done.stdout.splitlines()
    return [f"{a} | {b.strip()}" for a, b in zip(lines[::2], lines[1::2], strict=True)]


def test_a_policy_of_ones_own_gates_by_path(printed: list[str]) -> None:
    assert printed[0] == "approved  read_file /srv/project/notes.txt | budget: risk 0, 3 left"
    assert printed[1].startswith("denied    read_file ../../etc/passwd | path: only files in")


def test_the_path_that_was_judged_is_the_path_that_runs(printed: list[str]) -> None:
    assert printed[2] == "approved  write_file /srv/project/notes.txt | budget: risk 2, 1 left"


def test_a_policy_of_ones_own_asks_its_own_question_beyond_its_risk(printed: list[str]) -> None:
    assert printed[3].endswith("risk review: risk 5 accepted by slack:U0ALICE, 6 left")
    assert printed[4].endswith("risk review: risk 8 was denied")


def test_a_policy_of_ones_own_keeps_its_own_state(printed: list[str]) -> None:
    assert printed[5] == "approved  write_file /srv/project/again.txt | budget: risk 2, 4 left"
