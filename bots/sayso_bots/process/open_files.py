"""How many files may be open, and so how many connections the bots take at once."""

from __future__ import annotations

import resource
from dataclasses import dataclass

MOST_STREAMS = 10_000
# For the store, the platforms and whatever is read from disk.
_KEPT_FILES = 128
# For presses and calls, however many streams are open.
_KEPT_CONNECTIONS = 128
_MANY = 65_536


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
    """Let this process open as many files as it may at most (RLIMIT_NOFILE); how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MANY if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            return soft  # some systems allow less than they say
        return wanted
    return _MANY if soft == resource.RLIM_INFINITY else soft
