"""Helpers that commands started while tests ran: each test ends its own, and none is left."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sayso_bots.cli.resident import MOST_STORES

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


class SharedFolder:
    """A folder whose helper serves several tests, each with a store of its own.

    A helper knows a few stores: before there are more, another folder takes the place of this one.
    """

    def __init__(self, folders: ExitStack) -> None:
        self._folders = folders
        self._stores = MOST_STORES
        self._folder = Path()

    def for_another_store(self) -> Path:
        """The folder for the next test."""
        if self._stores == MOST_STORES:
            self._folder = self._folders.enter_context(runtime_folder())
            self._stores = 0
        self._stores += 1
        return self._folder


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
