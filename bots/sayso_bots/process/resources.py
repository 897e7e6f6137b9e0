"""The machine: open files, garbage, an environment to hide, the service manager."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import resource
import socket
import sys
from collections.abc import Mapping
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
    """Numbers of connections that the web server takes, and of streams among them."""

    connections: int
    streams: int


def room_in(files: int) -> Room:
    """Share out the files that a process may open; where they are few, a third is kept."""
    connections = files - min(_KEPT_FILES, files // 3)
    streams = connections - min(_KEPT_CONNECTIONS, connections // 3)
    return Room(connections, min(MOST_STREAMS, streams))


def raised_file_limit() -> int:
    """Allow this process as many files as it can have; return the number (RLIMIT_NOFILE)."""
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


_PR_SET_DUMPABLE = 4


def hide_environment() -> None:
    """Keep other processes of this user from reading this one's environment and memory.

    On Linux, ``/proc/PID/environ`` belongs to root from here on (prctl(2), PR_SET_DUMPABLE), and
    no debugger attaches; a process with CAP_SYS_PTRACE still can. A child that executes a program
    begins anew. Other systems have no such switch.

    Raises:
        OSError: the kernel refuses.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the environment cannot be hidden: {os.strerror(number)}")


_log = logging.getLogger(__name__)


def notify_service_manager(state: str, env: Mapping[str, str]) -> None:
    """Send a state, such as ``READY=1``, to systemd where it waits for one (``Type=notify``)."""
    address = env.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # systemd writes an abstract address, which begins with a zero byte, with an @.
    address = f"\0{address[1:]}" if address[0] == "@" else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifying:
            notifying.sendto(state.encode(), address)
    except OSError as error:
        _log.warning("the service manager cannot be told %s: %s", state, error.strerror)
