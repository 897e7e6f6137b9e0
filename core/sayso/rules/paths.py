"""Paths of files: whether one lies in a folder, and which a rule for a folder never means."""

from __future__ import annotations

import os
import re
import stat
from functools import lru_cache

from sayso.calls import Folder

# Whoever can write one of these has code run by somebody else, or on another machine: build
# servers read the first, what others wrote and nobody reads again stands in the last. A folder
# with a HEAD may be a repository, whose settings run programs when git looks at it.
_FOR_SERVERS = frozenset(
    {
        *("jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", "bitbucket-pipelines.yml"),
        *("appveyor.yml", "buildspec.yml", "cloudbuild.yaml", "cloudbuild.yml"),
    }
)
_NEVER = _FOR_SERVERS | {"sayso.toml", "head", "node_modules", "site-packages"}
# Of what is hidden these alone are known to be run by build servers, and by nobody here: not hooks
# of git, not what tells or sets up agents and editors (which is in .github, too).
_HIDDEN_FOR_SERVERS = re.compile(
    r"\.github/workflows/[^/.][^/]*\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci/config\.ya?ml"
    r"|\.travis\.ya?ml"
)
# The short names of Windows, C:, streams and what begins a home folder.
_TRICKS = re.compile(r"[\\:~]")
_LONGEST = 4_096
# Folders with those of everybody, of the system, and of one person with all they have.
_SHARED = re.compile(
    r"/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr"
    r"|var|Applications|Library|System|Users|Volumes)?"
    r"|/(?:home|Users)/[^/]+|/(?:usr|var|private|opt|Library|System)/[^/]+"
)


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
    return bool(parts(root)) and _SHARED.fullmatch(root) is None


def inside(folder: str, path: str) -> tuple[str, ...] | None:
    """The names that lead from a folder to a path below it; None where it is not below."""
    outer, inner = parts(folder), parts(path)
    if outer is None or inner is None or inner[: len(outer)] != outer:
        return None
    return inner[len(outer) :] or None


def is_ordinary(names: tuple[str, ...]) -> bool:
    """Whether a path below a project has nothing hidden, nor what others run or never read."""
    return not any(name.startswith(".") or name.casefold() in _NEVER for name in names)


def is_for_servers(names: tuple[str, ...]) -> bool:
    """Whether a path below a project is a file that build servers run, and nothing here does."""
    *folders, name = names
    if _HIDDEN_FOR_SERVERS.fullmatch("/".join(names)):
        return True
    return name.casefold() in _FOR_SERVERS and is_ordinary(tuple(folders))


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
    """Whether what these names lead to, from a root, is no link and reached by none.

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
