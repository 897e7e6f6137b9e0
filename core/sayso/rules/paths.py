"""Paths of files: whether one lies in a folder, and which a rule for a folder never means."""

from __future__ import annotations

import os
import re
import stat
from functools import lru_cache

from sayso.calls import Folder
from sayso.sensitive.paths import controls_runs, is_secret, is_shared
from sayso.shell.places import Place

# The short names of Windows, C:, streams and what begins a home folder.
_TRICKS = re.compile(r"[\\:~]")
_LONGEST = 4_096


# A path is looked at by every rule about paths, and so is the folder of each.
@lru_cache(maxsize=256)
def parts(path: str) -> tuple[str, ...] | None:
    """The names in an absolute path; None where it is not written in the one plain way.

    A path has one where it begins with a single slash and nothing in it stands for
    something else: no ``..``, no double slash, no character that file systems fold or drop.
    """
    if path == "/":
        return ()
    if not path.startswith("/") or len(path) > _LONGEST or not path.isprintable():
        return None
    names = tuple(path[1:].split("/"))
    return names if all(map(_is_plain, names)) else None


def is_project(root: str) -> bool:
    """Whether a folder can be that of one project: no home, none of the system, not the root."""
    return bool(parts(root)) and not is_shared(root)


def find_place(folder: Folder | None) -> Place:
    """Return the place that the words of an agent's call lead from."""
    return Place() if folder is None else Place(folder.begins or folder.root, folder.root)


def inside(folder: str, path: str) -> tuple[str, ...] | None:
    """The names that lead from a folder to a path below it; None where it is not below."""
    outer, inner = parts(folder), parts(path)
    if outer is None or inner is None or inner[: len(outer)] != outer:
        return None
    return inner[len(outer) :] or None


@lru_cache(maxsize=256)
def is_ordinary(names: tuple[str, ...]) -> bool:
    """Return True if a path below a project is not hidden, controls no runs, shows no secrets."""
    if any(name.startswith(".") for name in names):
        return False
    return not controls_runs(names) and not is_secret("/".join(names))


def absolute(path: str, folder: Folder) -> str | None:
    """The path, from the folder where relative ones begin; None where that cannot be said.

    ``./`` at its beginning is all that a relative path may have of dots.
    """
    if path.startswith("/"):
        return path
    begins = folder.begins or folder.root
    rest = path.removeprefix("./")
    return f"{begins.rstrip('/')}/{rest}" if rest and begins.startswith("/") else None


def has_no_link(root: str, names: tuple[str, ...]) -> bool:
    """Return True if what these names lead to, from a root, is no link and reached by none.

    What is not there yet is none. A file with a second name may have it anywhere.
    """
    path = root
    try:
        for name in names:
            path = f"{path}/{name}"
            found = os.lstat(path)
            if stat.S_ISDIR(found.st_mode):
                continue
            # A file can only be the last of them.
            return path == "/".join((root, *names)) and _is_one_file(found)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _is_one_file(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


@lru_cache(maxsize=4_096)
def _is_plain(name: str) -> bool:
    return (
        name not in ("", ".", "..")
        and _TRICKS.search(name) is None
        and not name.endswith((".", " "))
        and not name.startswith(" ")
    )
