"""The environment of a process that starts children."""

from __future__ import annotations

import ctypes
import os
import sys

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
