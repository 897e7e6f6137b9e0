"""How many examples the tests with generated data try, and whether they are new ones."""

from __future__ import annotations

import os

# How many fifths of a thorough run's examples are tried, all of them new. Without it a fifth,
# the same ones each time. `make check` sets 5, continuous integration 1.
_FIFTHS = int(os.environ.get("SAYSO_TEST_THOROUGH") or 0)
THOROUGH = _FIFTHS > 0


def examples(thorough: int) -> int:
    """So many for a thorough run, and a fifth of them for a quick one."""
    return thorough * (_FIFTHS or 1) // 5
