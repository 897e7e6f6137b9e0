"""Paths by their words: whether one controls what runs, and whether one leads to secrets."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from functools import cache, lru_cache

from sayso.sensitive.name_table import NameTable, read_entries

_LONGEST = 4_096
"""No path is longer; what may become several is not looked through beyond it."""
# Parts of a word that may be a path: `HEAD:.env`, `--file=.env`, `host:.ssh`, `a,b`.
_APART = re.compile(r"[=:,;@]")
_EXPANDS = re.compile(r"[*?\[{\\]")
# With several names for an ending: `*.{ts,tsx}`.
_BRACES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
# Folders with those of everybody, of the system, and of one person with all they have.
_SHARED = re.compile(
    r"/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr"
    r"|var|Applications|Library|System|Users|Volumes)?"
    r"|/(?:home|Users)/[^/]+|/(?:usr|var|private|opt|Library|System)/[^/]+",
    re.IGNORECASE,
)


@cache
def _controlling() -> NameTable:
    return NameTable(read_entries("controlling_files.toml"))


@cache
def _read_installed() -> NameTable:
    entries = read_entries("controlling_files.toml")
    return NameTable([one for one in entries if one.installed])


@cache
def _keys() -> NameTable:
    return NameTable([one for one in read_entries("secrets.toml") if not one.reading])


@cache
def _readable() -> NameTable:
    return NameTable(read_entries("secrets.toml"))


def controls_runs(names: tuple[str, ...]) -> bool:
    """Return True if a path, given by its names, controls what runs or what agents obey."""
    return _controlling().has(("", *(name.casefold() for name in names)))


@lru_cache(maxsize=1_024)
def is_installed(path: str) -> bool:
    """Return True if a relative path leads to what is hidden, or to code that was installed."""
    names = path.casefold().split("/")
    # `./...` are all packages of Go.
    hidden = any(name.startswith(".") and name.strip(".") for name in names)
    return hidden or _read_installed().has((".", *names))


def is_secret(word: str) -> bool:
    """Return True if a path, or a word with one, leads to keys or passwords."""
    return len(word) <= _LONGEST and any(map(_keys().has, _paths_in(word)))


def is_shared(path: str) -> bool:
    """Return True if an absolute path is the root, a folder of the system, or a whole home."""
    return path.startswith("/") and _SHARED.fullmatch(posixpath.normpath(path)) is not None


@lru_cache(maxsize=4_096)
def shows_secrets(word: str, *, expands: bool = False) -> bool:
    """Return True if a read there may show secrets: also of devices, processes, other hosts.

    With ``expands`` the word may become any names that it matches.
    """
    if word.startswith(("//", "\\\\")) and word.strip("/\\"):
        return True
    if len(word) > _LONGEST:
        return expands and _EXPANDS.search(word) is not None
    table = _readable()
    paths = _paths_in(word)
    if any(map(table.has, paths)):
        return True
    if not expands or not _EXPANDS.search(word):
        return False
    if "\\" in word and shows_secrets(word.replace("\\", ""), expands=True):
        return True
    if braces := _BRACES.fullmatch(word):
        begins, names, ends = braces.groups()
        return any(
            shows_secrets(f"{begins}{name}{ends}", expands=True) for name in names.split(",")
        )
    # Below a folder of everybody two stars come by all that anybody has.
    return any("**" in path and path[0] == "" for path in paths) or any(map(table.may_match, paths))


def _paths_in(word: str) -> list[tuple[str, ...]]:
    """The paths that may stand in a word, as the names of each."""
    plain = word.casefold().replace("\\", "/")
    if not plain.isascii():  # some file systems pass over these
        plain = "".join(one for one in plain if unicodedata.category(one) != "Cf")
    return [_names(piece) for piece in dict.fromkeys((plain, *_APART.split(plain))) if piece]


def _names(path: str) -> tuple[str, ...]:
    """The names in a path; what leads upwards leads to the root in the end."""
    names = posixpath.normpath(path).split("/")
    above = next((at for at, name in enumerate(names) if name != ".."), len(names))
    # Windows drops blanks and dots at the end of a name.
    plain = [name.rstrip(" .") or name for name in names[above:] if name]
    return ("" if above or path[0] == "/" else ".", *plain)
