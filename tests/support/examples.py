"""How many examples the tests with generated data try, and whether they are new ones."""

from __future__ import annotations

import os

# Set by `make check`, and so in continuous integration.
THOROUGH = os.environ.get("SAYSO_TEST_THOROUGH", "") not in ("", "0")


def examples(thorough: int) -> int:
    """So many for a thorough run, and a fifth of them for a quick one."""
    return thorough if THOROUGH else thorough // 5
