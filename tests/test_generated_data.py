"""The data that tests make up: the same every time in a quick run, new and more of it otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SAID = """
import conftest
from hypothesis import settings
from support.examples import examples
print(settings.default.derandomize, settings.default.max_examples, examples(500))
"""


@pytest.mark.parametrize(
    ("thorough", "said"),
    [
        ("", "True 20 100"),
        ("0", "True 20 100"),
        ("2", "False 40 200"),
        ("5", "False 100 500"),
    ],
)
def test_a_quick_run_makes_up_the_same_data_and_a_thorough_one_new_and_more_of_it(
    thorough: str, said: str
) -> None:
    found = subprocess.run(
        [sys.executable, "-c", SAID],
        cwd=TESTS,
        env={**os.environ, "SAYSO_TEST_THOROUGH": thorough},
        capture_output=True,
        text=True,
        check=True,
    )

    assert found.stdout.strip() == said
