"""A port for a server that listens later: nobody else takes it in between."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

# Below those that Linux (from 32,768) and macOS (from 49,152) give to whoever asks for any.
_PORTS = range(20_000, 32_000)

# Open for as long as this process lives, and so are the locks on them.
_taken: list[int] = []


def free_port(among: range = _PORTS) -> int:
    """A port of this computer on which nobody listens, and that no other process of tests is given.

    No connection and no server that takes any port gets it, so it may be listened on at any moment
    until this process ends.

    Raises:
        RuntimeError: all of them are taken.
    """
    folder = Path(tempfile.gettempdir()) / f"sayso-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for port in random.sample(among, len(among)):
        file = os.open(folder / str(port), os.O_CREAT | os.O_WRONLY, 0o600)
        if _is_ours(file) and _is_unused(port):
            _taken.append(file)
            return port
        os.close(file)
    raise RuntimeError(f"all ports from {among.start} to {among.stop - 1} are taken")


def _is_ours(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_unused(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
