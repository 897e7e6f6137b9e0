"""Asking the helper, and starting one. Loads next to nothing: it is part of each start."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sayso_bots.process.reader import ReaderGoneError, is_gone
from sayso_bots.resident.place import (
    address,
    folder_of,
    identity,
    is_same_user,
    isolation,
    settings_in,
    started_with,
)

MOST_BYTES = 64 * 1024 * 1024
"""Longer than any call that a gate takes."""

HEADER = struct.Struct(">Q")

SAID = "said"
"""A message with this is no answer: the command prints it, and waits on."""

_CONNECTING_SECONDS = 1.0
# How often a wait looks whether anybody still wants the answer.
_LOOK_SECONDS = 0.5
# A helper that was left withdraws the question, which takes it a second at most.
_LEAVING_SECONDS = 3.0


def ask_helper(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    seconds: float,
    text: str = "",
    reader: int | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Mapping[str, Any] | None:
    """What the helper answers within so many seconds; None where the command must work by itself.

    ``say`` is told what the helper says before it answers.

    Where there is no helper, one is started for the next command. ``reader`` is the file that
    the answer is written to: when nobody reads it any more, or this is interrupted in any
    way, the helper is left, which withdraws what it asked.

    Raises:
        ReaderGoneError: nobody reads the answer.
    """
    folder = folder_of(env)
    if folder is None:
        return None
    who = identity(env)
    try:
        connection = _connected(address(folder, who))
    except (FileNotFoundError, ConnectionRefusedError):
        _start(folder, env)
        return None
    except OSError:
        return None
    request = {"who": who, "argv": list(argv), "env": settings_in(env), "cwd": os.getcwd()}
    with connection:
        if not is_same_user(connection):
            return None
        try:
            return _exchange(connection, {**request, "text": text}, seconds, reader, say)
        except (OSError, ValueError):
            return None
        except BaseException:
            _leave(connection)
            raise


def _connected(at: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_CONNECTING_SECONDS)
        connection.connect(at)
    except BaseException:
        connection.close()
        raise
    return connection


def _exchange(
    connection: socket.socket,
    request: Mapping[str, Any],
    seconds: float,
    reader: int | None,
    say: Callable[[str], None],
) -> Mapping[str, Any] | None:
    body = json.dumps(request).encode()
    connection.sendall(HEADER.pack(len(body)) + body)
    ends_at = time.monotonic() + seconds
    while time.monotonic() <= ends_at:
        if not _has_come(connection, reader):
            continue
        # What has begun to come is written in one go.
        (length,) = HEADER.unpack(_read(connection, HEADER.size))
        if length > MOST_BYTES:
            return None
        reply = json.loads(_read(connection, length))
        if not isinstance(reply, dict) or not reply:
            return None
        if SAID not in reply:
            return reply
        say(str(reply[SAID]))
    return None


def _has_come(connection: socket.socket, reader: int | None) -> bool:
    """Wait for a moment; whether something came."""
    if reader is not None and is_gone(reader):
        raise ReaderGoneError
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(_LOOK_SECONDS * 1000))


def _read(connection: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 1 << 20))
        if not part:
            raise ConnectionResetError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _leave(connection: socket.socket) -> None:
    """Tell the helper that nobody waits, and give it the time to withdraw the question."""
    try:
        connection.settimeout(_LEAVING_SECONDS)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass
    except OSError:
        return


def _start(folder: str, env: Mapping[str, str]) -> None:
    """Start a helper that outlives this process, and holds nothing of it."""
    import subprocess  # loaded only where the slow way follows anyway

    try:
        subprocess.Popen(  # noqa: S603  our own interpreter
            # Not the folder that a command was started in: whose modules lie there is not known.
            [sys.executable, isolation(), "-m", "sayso_bots.cli.resident"],
            cwd=folder,
            env=started_with(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return
