"""The bots collect garbage seldom, and still collect it."""

from __future__ import annotations

import subprocess
import sys

_CODE = """
import gc, weakref
from sayso_bots.process.resources import collect_seldom

class Ring: pass

collect_seldom()
assert gc.isenabled()
assert gc.get_threshold()[0] > 700
assert gc.get_freeze_count() > 1_000
ring = Ring()
ring.itself = ring
gone = weakref.ref(ring)
del ring
kept = [[] for _ in range(2 * gc.get_threshold()[0])]
assert gone() is None
"""


def test_what_was_loaded_is_left_alone_and_later_garbage_goes() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
