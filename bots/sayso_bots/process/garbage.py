"""When the bots look for garbage: seldom, and not among what stays for ever."""

from __future__ import annotations

import gc

# Python's default is 700: with thousands of presses a second it looked through the objects of all
# presses under way again and again, a sixth of the time that a press takes.
_NEW_OBJECTS = 10_000


def collect_seldom() -> None:
    """Leave what is there out of all later collections, and collect after 10,000 new objects.

    For a process that has started: what was loaded until now lives as long as it does.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
