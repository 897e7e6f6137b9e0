"""Where the helper of this user and this code listens, and how the two know each other.

Loads next to nothing: it is part of each start.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence

SWITCH = "SAYSO_HELPER"
"""The variable that says ``off`` where no helper may run."""

# What a process reads of its environment besides our settings: a helper that was started with
# others is another one.
_WORLD = (
    *("HOME", "LNAME", "LOGNAME", "SSL_CERT_DIR", "SSL_CERT_FILE"),
    *("TZ", "USER", "USERNAME", "XDG_CONFIG_HOME"),
)

# Linux takes 107 bytes as the address of a socket, macOS 103.
_LONGEST_ADDRESS = 100


def identity(env: Mapping[str, str]) -> str:
    """Who this is: the interpreter, what it loads code by, all of our files, and who runs it.

    Whoever says the same runs the same code, so that after an upgrade no old helper is asked.
    Nothing in it is secret.
    """
    parts = [sys.executable, sys.version, str(os.getuid())]
    parts += [f"{name}={env.get(name)}" for name in _WORLD]
    parts += [isolation(), *(f"{name}={env[name]}" for name in sorted(_for_python(env)))]
    for root, packages in _roots():
        parts.append(f"{root} {os.stat(root or os.curdir).st_mtime_ns}")
        parts += sorted(_files(packages))
    # What pip installs or replaces, such as the client of Redis, changes the folder it lies in.
    parts += [
        f"{root} {os.stat(root).st_mtime_ns}"
        for root in dict.fromkeys(sys.path)
        if root.endswith("-packages") and os.path.isdir(root)
    ]
    return "\n".join(parts)


def settings_in(env: Mapping[str, str]) -> dict[str, str]:
    """What of the environment travels to the helper: our settings, and who runs it."""
    return {name: env[name] for name in env if name.startswith("SAYSO_") or name in _WORLD}


def started_with(env: Mapping[str, str]) -> dict[str, str]:
    """What a helper is started with: no settings, and so no secret, of any command."""
    kept = (*_WORLD, "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "XDG_RUNTIME_DIR")
    return {name: env[name] for name in env if name in kept or name in _for_python(env)}


def isolation() -> str:
    """The option that keeps Python from code of the folder, and of what this process ignores."""
    if sys.flags.isolated:
        return "-I"
    return "-EP" if sys.flags.ignore_environment else "-P"


def _for_python(env: Mapping[str, str]) -> set[str]:
    """The variables that Python takes code from, in this process; none where it ignores them."""
    if sys.flags.ignore_environment:
        return set()
    return {name for name in env if name.startswith("PYTHON")}


def address(folder: str, who: str) -> str:
    """The helper's socket; its name says nothing."""
    return os.path.join(folder, f"{zlib.crc32(who.encode('utf-8', 'surrogateescape')):08x}.sock")


def is_off(env: Mapping[str, str]) -> bool:
    """Whether the environment says that no helper may run."""
    return env.get(SWITCH, "").strip().lower() == "off"


def folder_of(env: Mapping[str, str]) -> str | None:
    """The folder of this user's helpers; None where there shall be none, or none can be trusted."""
    return None if is_off(env) else own_folder(env)


def own_folder(env: Mapping[str, str]) -> str | None:
    """A folder of this user's own, made where it is missing; None where none can be trusted.

    Nobody else may look into it: it belongs to the user, and only the user has a way in.
    """
    if not hasattr(os, "getuid"):
        return None
    at = env.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(at, "sayso") if _is_ours(at) else f"/tmp/sayso-{os.getuid()}"  # noqa: S108  see _is_ours
    if len(os.fsencode(folder)) + 20 > _LONGEST_ADDRESS:
        return None
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return None
    return folder if _is_ours(folder) else None


def is_same_user(connection: socket.socket) -> bool:
    """Whether the process at the other end runs as this user; no where the system cannot say."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            user: int = struct.unpack("3i", said)[1]
            return user == os.getuid()
        # macOS: LOCAL_PEERCRED of SOL_LOCAL, a struct xucred.
        version, user = struct.unpack("II", connection.getsockopt(0, 1, 8))
        return version == 0 and user == os.getuid()
    except (OSError, struct.error):
        return False


def _is_ours(folder: str) -> bool:
    try:
        found = os.lstat(folder)
    except (OSError, ValueError):
        return False
    # A link is none, whatever it leads to.
    mode = found.st_mode
    return stat.S_ISDIR(mode) and found.st_uid == os.getuid() and not stat.S_IMODE(mode) & 0o077


def _roots() -> Iterator[tuple[str, list[str]]]:
    """The folders that hold packages of ours, each once, and those packages."""
    for root in dict.fromkeys(sys.path):
        try:
            names = os.listdir(root or os.curdir)
        except OSError:
            continue
        found = [
            os.path.join(root, name)
            for name in sorted(names)
            if (name == "sayso" or name.startswith("sayso_"))
            and os.path.isfile(os.path.join(root, name, "__init__.py"))
        ]
        if found:
            yield root, found


def _files(packages: Sequence[str]) -> Iterator[str]:
    folders = list(packages)
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except FileNotFoundError:
            continue
        with entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        folders.append(entry.path)
                else:
                    facts = entry.stat()
                    yield f"{entry.path} {facts.st_mtime_ns} {facts.st_size} {facts.st_ino}"
