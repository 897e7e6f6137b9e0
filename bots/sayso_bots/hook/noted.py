"""Notes of the calls that a person was asked about: of no other is told how it went.

A note is a file in the user's own folder with the key of the request; its name says nothing.
Loads next to nothing: it is looked for after every call.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Mapping

MOST = 1_000
"""So many notes are kept of calls that nothing more was heard of, each for a day."""

_KEPT_SECONDS = 86_400.0


def note(env: Mapping[str, str], agent: str, session: str, call_id: str, key: str) -> None:
    """Note the key that the call was asked under; without a note nothing is told of it later."""
    at = _file(env, agent, session, call_id)
    if at is None:
        return
    try:
        os.makedirs(os.path.dirname(at), 0o700, exist_ok=True)
        file = os.open(at, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, key.encode())
        finally:
            os.close(file)
        _forget(os.path.dirname(at))
    except OSError:
        return


def take(env: Mapping[str, str], agent: str, session: str, call_id: str) -> str:
    """Return, once, the key that the call was asked under; empty where it was not."""
    at = _file(env, agent, session, call_id)
    if at is None:
        return ""
    try:
        with open(at, encoding="ascii") as file:
            key = file.read()
        os.unlink(at)
    except (OSError, ValueError):
        return ""
    return key


def _file(env: Mapping[str, str], agent: str, session: str, call_id: str) -> str | None:
    folder = _own_folder(env) if call_id else None
    if folder is None:
        return None
    which = "\0".join((agent, session, call_id)).encode("utf-8", "surrogatepass")
    return os.path.join(folder, "asked", hashlib.sha256(which).hexdigest())


def _own_folder(env: Mapping[str, str]) -> str | None:
    """A folder of this user's own, made where it is missing; None where none can be trusted."""
    if not hasattr(os, "getuid"):
        return None
    at = env.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(at, "sayso") if _is_ours(at) else f"/tmp/sayso-{os.getuid()}"  # noqa: S108  see _is_ours
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return None
    return folder if _is_ours(folder) else None


def _is_ours(folder: str) -> bool:
    """Return True if the folder is the user's and nobody else may enter it."""
    try:
        found = os.lstat(folder)
    except (OSError, ValueError):
        return False
    # A link is none, whatever it leads to.
    mode = found.st_mode
    return stat.S_ISDIR(mode) and found.st_uid == os.getuid() and not stat.S_IMODE(mode) & 0o077


def _forget(folder: str) -> None:
    """Drop the notes of a day ago, once there are many."""
    with os.scandir(folder) as entries:
        found = list(entries)
    if len(found) <= MOST:
        return
    ages = sorted((entry.stat().st_mtime, entry.path) for entry in found)
    oldest = time.time() - _KEPT_SECONDS
    for number, (made, path) in enumerate(ages):
        if made < oldest or number < len(ages) - MOST:
            os.unlink(path)
