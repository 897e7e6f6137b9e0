"""The places that the words of a command lead to, by their letters, from its folder."""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from sayso.sensitive.paths import is_shared, shows_secrets

_HOME = re.compile(r"(?:~[^/]*|\$HOME|\$\{HOME\})(?=/|\Z)")
_SYSTEM = re.compile(
    r"/(?:(?:private/)?(?:etc|var/run)|proc|sys|dev|net|run)(?:/|\Z)", re.IGNORECASE
)
_OF_EVERYBODY = frozenset(["/etc/hosts", "/etc/os-release", "/etc/passwd", "/etc/resolv.conf"])
# Folders of a person, in which programs keep their settings with what they sign in by.
_SETTINGS = frozenset([".config", ".cache", ".local", "library"])
# Folders of a project that hold passwords and keys as often as not.
_OFTEN_SECRET = frozenset(
    ["config", "conf", "secrets", "secret", "keys", "certs", "ssl", "tls", "private", "credentials"]
)


class Place(NamedTuple):
    """The folder of relative paths, and the root of the project; empty where nobody says."""

    begins: str = ""
    root: str = ""

    def enter(self, folder: str) -> Place:
        """The place after going to a folder."""
        return self._replace(begins=self.find(folder))

    def find(self, word: str) -> str:
        """The path that a word is, in the one plain way to write it."""
        path = posixpath.normpath(posixpath.join(self.begins, _HOME.sub("/home/user", word, 1)))
        return f"/{path.lstrip('/')}" if path[0] == "/" else path

    def inside(self, word: str) -> str | None:
        """The path from the folder or from the root of the project; None where it is elsewhere."""
        path = self.find(word)
        if word[:1] == "$":
            return None
        for base in map(posixpath.normpath, filter(None, self)):
            if _SYSTEM.match(base) or is_shared(base):
                continue
            if path == base:
                return "."
            if path.startswith(f"{base}/"):
                return path[len(base) + 1 :]
        return None if path[0] == "/" or path.split("/")[0] == ".." else path

    def leaves(self, word: str) -> bool:
        """Return True if a path leads out of the project, or to what is hidden in it."""
        path = self.inside(word)
        return path is None or (path[0] == "." and path != ".") or "/." in path

    def sweeps(self, word: str) -> bool:
        """Return True if secrets may lie below a path; below a folder of the project none do."""
        if self.leaves(word):
            return True
        path = self.inside(word) or "."
        return path[0] in ".*?[" or path.rpartition("/")[2].casefold() in _OFTEN_SECRET

    def is_wide(self, word: str) -> bool:
        """Return True if a path is of the system, a whole home, or the settings of a person."""
        path = self.inside(word)
        if path is not None:
            return not self.root and not _SETTINGS.isdisjoint(path.casefold().split("/"))
        path = self.find(word)
        above = f"{path.rstrip('/')}/"
        return (
            path[0] != "/"
            or is_shared(path)
            or (_SYSTEM.match(path) is not None and path not in _OF_EVERYBODY)
            or not _SETTINGS.isdisjoint(path.casefold().split("/"))
            or any(base.startswith(above) for base in self)
        )

    def shows_secrets(self, word: str, *, expands: bool = False) -> bool:
        """Return True if a read there may show secrets; with ``expands`` of any name it matches."""
        path = self.inside(word) or (self.find(word) if self.begins else word)
        return (
            shows_secrets(path, expands=expands)
            or shows_secrets(word)
            or (self.begins != "" and shows_secrets(posixpath.join(self.begins, word)))
        )

    @property
    def is_secret(self) -> bool:
        """Return True if all that lies in the folder is secret."""
        return self.begins != "" and shows_secrets(self.begins)
