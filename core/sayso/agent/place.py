"""Where a process works, and on which project, found without running a program."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from sayso.calls import Folder, Project
from sayso.rules.paths import is_project
from sayso.where import LONGEST_NAME, Where

_MOST_READ = 65_536
_MOST_UP = 32
_BRANCH = re.compile(r"ref: refs/heads/(\S+)")
_COMMIT = re.compile(r"[0-9a-f]{12}")
_GITDIR = re.compile(r"gitdir: (.+)")
# A header of Git's configuration, and the line of it that names the address of a remote.
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"([^"]*)")?\s*\]')
_URL = re.compile(r"\s*url\s*=(.*)", re.IGNORECASE)
# Whatever stands before an @ may be a password, and so may what a query says.
_ADDRESS = re.compile(
    r"(?:[a-z+]+://)?(?:[^/@]*@)?(?P<host>[\w.-]+(?::[0-9]+(?=/))?)[:/](?P<path>[\w./~-]+?)(?:\.git)?/?"
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
        git = _git_folder(root)
        branch, repository = _branch(git), _origin(git) or root.name
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


def project_of(folder: Folder | None) -> Project | None:
    """The project that a folder on this host is of; None where that is all of a disk.

    The origin is the one that the repository's own configuration names, which whoever may
    write there can change: a rule for the project is bound to the host and the folder as well.
    """
    host = _host()
    if folder is None or not host or not is_project(folder.root):
        return None
    return Project(host, folder.root, _origin(_git_folder(Path(folder.root))))


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


def _git_folder(root: Path) -> Path:
    """Git's folder of a repository; that of a worktree or a submodule is elsewhere."""
    git = root / ".git"
    elsewhere = _GITDIR.match(_read(git))
    return git if elsewhere is None else (root / elsewhere[1].strip()).resolve()


def _branch(git: Path) -> str:
    head = _read(git / "HEAD")
    found = _BRANCH.match(head) or _COMMIT.match(head)
    return "" if found is None else found[found.re.groups]


def _origin(git: Path) -> str:
    """The address of the remote ``origin`` without credentials; empty where none is named."""
    common = _read(git / "commondir").strip()
    written = _first_url(_read((git / common if common else git) / "config"))
    address = _ADDRESS.fullmatch(written)
    if address is None:
        return written.rpartition("@")[2].partition("?")[0]
    return f"{address['host']}/{address['path'].lstrip('/')}"


def _first_url(config: str) -> str:
    """The first address of ``origin`` in a configuration; files that it includes are not read."""
    is_origin = False
    for line in config.split("\n"):
        header = _SECTION.match(line)
        if header is not None:
            is_origin = (header[1].lower(), header[2]) == ("remote", "origin")
        found = _URL.match(line, header.end() if header else 0)
        if is_origin and found is not None:
            return found[1].strip().strip('"')
    return ""


def _read(file: Path) -> str:
    try:
        if not file.is_file():
            return ""
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_MOST_READ)
    except OSError:
        return ""
