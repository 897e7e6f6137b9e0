"""Notes of the calls that a person was asked about: of no other is told how it went.

A note is an empty file in the user's own folder, by a name that says nothing. Loads next to
nothing: it is looked for after every call.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping

from sayso_bots.resident.place import own_folder

MOST = 1_000
"""So many notes are kept of calls that nothing more was heard of, each for a day."""

_KEPT_SECONDS = 86_400.0


def note(env: Mapping[str, str], agent: str, session: str, call_id: str) -> None:
    """Note that the call was asked about; where that cannot be, nothing is told of it later."""
    at = _file(env, agent, session, call_id)
    if at is None:
        return
    try:
        os.makedirs(os.path.dirname(at), 0o700, exist_ok=True)
        os.close(os.open(at, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        _forget(os.path.dirname(at))
    except OSError:
        return


def take(env: Mapping[str, str], agent: str, session: str, call_id: str) -> bool:
    """Whether the call was asked about; once."""
    at = _file(env, agent, session, call_id)
    try:
        if at is not None:
            os.unlink(at)
    except OSError:
        return False
    return at is not None


def _file(env: Mapping[str, str], agent: str, session: str, call_id: str) -> str | None:
    folder = own_folder(env) if call_id else None
    if folder is None:
        return None
    which = "\0".join((agent, session, call_id)).encode("utf-8", "surrogatepass")
    return os.path.join(folder, "asked", hashlib.sha256(which).hexdigest())


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
