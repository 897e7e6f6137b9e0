"""What the process takes of its machine: open files, and time spent on garbage."""

from __future__ import annotations

import gc
import resource
from dataclasses import dataclass

MOST_STREAMS = 10_000
# For the store, the platforms and whatever is read from disk.
_KEPT_FILES = 128
# For presses and calls, however many streams are open.
_KEPT_CONNECTIONS = 128
_MANY = 65_536
# Python's default is 700: with thousands of presses a second it looked through the objects of all
# presses under way again and again, a sixth of the time that a press takes.
_NEW_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class Room:
    """How many connections the web server takes, and how many of them may be streams."""

    connections: int
    streams: int


def room_in(files: int) -> Room:
    """How the files a process may open are shared out; where they are few, a third is kept."""
    connections = files - min(_KEPT_FILES, files // 3)
    streams = connections - min(_KEPT_CONNECTIONS, connections // 3)
    return Room(connections, min(MOST_STREAMS, streams))


def raised_file_limit() -> int:
    """How many files this process may open, once it is allowed all it can be (RLIMIT_NOFILE)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MANY if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            return soft  # some systems allow less than they say
        return wanted
    return _MANY if soft == resource.RLIM_INFINITY else soft


def collect_seldom() -> None:
    """Leave what is there out of all later collections, and collect after 10,000 new objects.

    For a process that has started: what was loaded until now lives as long as it does.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
