"""Helpers that commands started while tests ran: each test ends its own, and none is left."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

# Folders of several sessions of tests lie side by side.
_PREFIX = "sayso-of-"
_OURS = f"{_PREFIX}{os.getpid()}-"


@contextmanager
def runtime_folder() -> Iterator[Path]:
    """A folder for helpers; those that were started in it are ended."""
    # Not pytest's own: the address of a socket is short.
    with tempfile.TemporaryDirectory(prefix=_OURS) as made:
        try:
            yield Path(made)
        finally:
            for process, folder in helpers().items():
                if folder == made:
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)


def helpers() -> Mapping[int, str]:
    """The helpers of this interpreter that run now, with the folder that each was told of."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            environment = (process / "environ").read_bytes().split(b"\0")
            if words[0] == sys.executable.encode() and b"sayso_bots.cli.resident" in words:
                name = b"XDG_RUNTIME_DIR="
                told = [one.removeprefix(name) for one in environment if one.startswith(name)]
                found[int(process.name)] = told[0].decode() if told else ""
    return found


def is_of_this_session(folder: str) -> bool:
    """Whether a helper there is ours: not where another session has its folders for them."""
    return _OURS in folder or _PREFIX not in folder
