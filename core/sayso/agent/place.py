"""Where a process works, and on which project, found without running a program."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from sayso.calls import Folder
from sayso.rules.paths import is_project
from sayso.where import LONGEST_NAME, Where

_MOST_READ = 65_536
_MOST_UP = 32
_BRANCH = re.compile(r"ref: refs/heads/(\S+)")
_COMMIT = re.compile(r"[0-9a-f]{12}")
_GITDIR = re.compile(r"gitdir: (.+)")
_ORIGIN = re.compile(r'\[remote "origin"\][^\[]*?\burl\s*=\s*(\S+)')
# Whatever stands before an @ may be a password.
_ADDRESS = re.compile(
    r"(?:[a-z+]+://)?(?:[^/@]*@)?(?P<host>[\w.-]+)(?::[0-9]+(?=/))?[:/](?P<path>[\w./~-]+?)(?:\.git)?/?"
)


def here() -> Where:
    """The place of this process: its host, its folder, and the repository that it is in."""
    try:
        return place_of(Path.cwd())
    except OSError:
        return Where(host=_host())


def place_of(folder: Path) -> Where:
    """The place of a folder on this host. What cannot be read is left out."""
    root = _root(folder)
    repository = branch = ""
    if root is not None:
        branch, repository = _head_and_origin(root)
    return Where(
        host=_host(),
        folder=_told(folder),
        repository=_short(repository),
        branch=_short(branch),
        root=_told(root) if root is not None and root != folder else "",
    )


def project_folder(written: str) -> Folder | None:
    """The project that an agent works in: the repository around its folder, else that itself.

    Whoever calls this runs where the agent does, and sees its files.
    """
    begins = Path(written)
    if not begins.is_absolute() or ".." in begins.parts or "\0" in written:
        return None
    around = (begins, *begins.parents)
    root = next((one for one in around if os.path.lexists(one / ".git")), begins)
    return Folder(str(root), str(begins), seen=True)


def project_of(folder: Folder | None) -> str:
    """What the agent works on: the root of its project; empty where that is all of a disk."""
    return folder.root if folder is not None and is_project(folder.root) else ""


def _host() -> str:
    return _short(socket.gethostname())


def _told(folder: Path) -> str:
    """A folder's path, unless a hidden folder is in it: nobody needs to know of those."""
    path = str(folder)
    is_hidden = any(part.startswith(".") for part in folder.parts)
    return "" if is_hidden or len(path) > LONGEST_NAME or not path.isprintable() else path


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME and text.isprintable() else ""


def _root(folder: Path) -> Path | None:
    for one in (folder, *list(folder.parents)[:_MOST_UP]):
        try:
            if (one / ".git").exists():
                return one
        except OSError:
            return None
    return None


def _head_and_origin(root: Path) -> tuple[str, str]:
    git = root / ".git"
    if (elsewhere := _GITDIR.match(_read(git))) is not None:
        git = (root / elsewhere[1].strip()).resolve()
    head = _read(git / "HEAD")
    found = _BRANCH.match(head) or _COMMIT.match(head)
    branch = "" if found is None else found[found.re.groups]
    common = _read(git / "commondir").strip()
    origin = _ORIGIN.search(_read((git / common if common else git) / "config"))
    address = None if origin is None else _ADDRESS.fullmatch(origin[1])
    name = root.name if address is None else f"{address['host']}/{address['path'].lstrip('/')}"
    return branch, name


def _read(file: Path) -> str:
    try:
        if not file.is_file():
            return ""
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_MOST_READ)
    except OSError:
        return ""
