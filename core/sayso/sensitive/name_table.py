"""A table of names of files and folders, read from TOML and looked up without a file system."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

_KEYS = frozenset({"what", "files", "folders", "but", "reading", "installed"})
# In a pattern of a shell, of git or of find: before the first and after the last of these it is
# literal.
_SPECIAL = re.compile(r"[*?\[\]{}\\]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: names of files, and of folders with all that is in them.

    Names that end in one of ``but`` are not meant. With ``reading`` only reading is meant, with
    ``installed`` it is code of others.
    """

    what: str
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    reading: bool = False
    installed: bool = False


def read_entries(name: str) -> tuple[Entry, ...]:
    """Read the rows of a table that comes with this package.

    Raises:
        ValueError: a row has another key, no names, or a name that cannot be looked up.
    """
    written = tomllib.loads(files("sayso.sensitive").joinpath(name).read_text("utf-8"))
    return tuple(check_entry(row, written.get("plain", ())) for row in written["entry"])


def check_entry(row: Mapping[str, Any], plain: Sequence[str] = ()) -> Entry:
    """Check one row. ``plain`` are endings that no name with a star at its end means.

    Raises:
        ValueError: as ``read_entries``.
    """
    what = row.get("what", "")
    if not what or not row.keys() <= _KEYS or not (row.get("files") or row.get("folders")):
        raise ValueError(f"a row has {', '.join(sorted(_KEYS))}, and names: {row!r:.200}")
    own, folders, but = (tuple(row.get(key, ())) for key in ("files", "folders", "but"))
    for name in (*own, *folders):
        steps = name.removeprefix("/").split("/")
        if name != name.casefold() or not all(steps) or any(one.count("*") > 1 for one in steps):
            raise ValueError(f"{what}: {name!r} must be in small letters, with one star in a step")
    but = (*but, *plain)
    return Entry(what, own, folders, but, row.get("reading", False), row.get("installed", False))


class NameTable:
    """The rows of a table, ready to be asked about paths.

    A path is given as the names in it, casefolded, after ``""`` for the root of the file system
    or ``"."`` for any other folder.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        forms: dict[str, list[str]] = defaultdict(list)
        for name, entry, folder in _each(entries):
            forms[_telling(name)].append(_form(name, entry, folder))
        self._by_name = {
            name: re.compile("|".join(some)) for name, some in forms.items() if "*" not in name
        }
        stars = {name: some for name, some in forms.items() if "*" in name}
        self._by_star = re.compile(
            "|".join(one for some in stars.values() for one in some) or r"\Z\A"
        )
        ends = [name.split("*") for name in stars]
        self._beginnings = tuple(begins for begins, _ in ends if begins)
        self._endings = tuple(end for begins, end in ends if not begins)
        rows = [_Row.of(name, entry, folder) for name, entry, folder in _each(entries)]
        self._short = [row for row in rows if len(row.steps) == 1]
        self._long = [row for row in rows if len(row.steps) > 1]
        # Of a pattern the last name comes again and again.
        self._one_may_match = lru_cache(maxsize=1_024)(self._meets_one)

    def has(self, path: Sequence[str]) -> bool:
        """Return True if the path is one of a row, or below one."""
        whole = f"{'/'.join(path)}/"
        starred = False
        for name in path:
            form = self._by_name.get(name)
            if form is not None and form.search(whole):
                return True
            starred = starred or name.startswith(self._beginnings) or name.endswith(self._endings)
        return starred and self._by_star.search(whole) is not None

    def may_match(self, path: Sequence[str]) -> bool:
        """Return True if names with ``*``, ``?`` and brackets may expand to a path of a row.

        It is certain where it says no: what stands between the first and the last of these signs
        is taken for anything. A star takes no hidden folder, as in every shell unless it is told.
        """
        last = len(path) - 1
        if any(self._one_may_match(name, at == last) for at, name in enumerate(path) if at):
            return True
        pieces = [_literal(name) for name in path]
        return any(row.may_be_in(pieces) for row in self._long)

    def _meets_one(self, name: str, last: bool) -> bool:
        path = (_literal(name),)
        return any(row.meets(path, last) for row in self._short if last or row.folder)


class _Piece(NamedTuple):
    """The beginning and the end of a name; with ``wild`` anything may stand between."""

    begins: str
    ends: str
    wild: bool


def _literal(name: str) -> _Piece:
    signs = [found.start() for found in _SPECIAL.finditer(name)]
    if not signs:
        return _Piece(name, name, False)
    return _Piece(name[: signs[0]], name[signs[-1] + 1 :], True)


@dataclass(frozen=True, slots=True)
class _Row:
    """A single name of a row, as the pieces of its steps."""

    steps: tuple[_Piece, ...]
    rooted: bool
    folder: bool
    but: tuple[str, ...]

    @classmethod
    def of(cls, name: str, entry: Entry, folder: bool) -> _Row:
        steps = tuple(map(_literal, name.removeprefix("/").split("/")))
        but = entry.but if steps[-1].wild else ()
        return cls(steps, name[0] == "/", folder, but)

    def may_be_in(self, path: Sequence[_Piece]) -> bool:
        count, length = len(self.steps), len(path)
        first = 1 if self.folder or self.rooted else max(length - count, 1)
        for at in range(first, length - count + 1):
            if self.rooted and (at > 1 or path[0].begins):
                return False
            name, step = path[at], self.steps[0]
            if name.begins != step.begins and not (name.wild or step.wild):
                continue
            ends = at + count == length
            if (ends or self.folder) and self.meets(path[at : at + count], ends):
                return True
        return False

    def meets(self, path: Sequence[_Piece], ends: bool) -> bool:
        if self.but and path[-1].ends.endswith(self.but):
            return False
        last = len(path) - 1
        for number, (name, step) in enumerate(zip(path, self.steps, strict=True)):
            if not _meet(name, step, whole=ends and number == last):
                return False
        return True


def _meet(name: _Piece, step: _Piece, *, whole: bool) -> bool:
    """Return True if both may mean one name, each with at most one stretch of anything."""
    if not name.wild and not step.wild:
        return name.begins == step.begins
    if name.wild and not name.begins and not whole and step.begins.startswith("."):
        return False
    if name.wild and step.wild:
        return (name.begins.startswith(step.begins) or step.begins.startswith(name.begins)) and (
            name.ends.endswith(step.ends) or step.ends.endswith(name.ends)
        )
    text, wild = (step.begins, name) if name.wild else (name.begins, step)
    return (
        len(text) >= len(wild.begins) + len(wild.ends)
        and text.startswith(wild.begins)
        and text.endswith(wild.ends)
    )


def _each(entries: Sequence[Entry]) -> Iterator[tuple[str, Entry, bool]]:
    for entry in entries:
        yield from ((name, entry, False) for name in entry.files)
        yield from ((name, entry, True) for name in entry.folders)


def _telling(name: str) -> str:
    """The step of a name by which it is looked up: the last one that is not just a star."""
    return next(step for step in reversed(name.split("/")) if step != "*")


def _form(name: str, entry: Entry, folder: bool) -> str:
    spared = entry.but if "*" in name.rpartition("/")[2] else ()
    but = "".join(rf"(?<!{re.escape(ending)})" for ending in spared)
    words = re.escape(name).replace(r"\*", "[^/]*")
    begins = r"\A" if name[0] == "/" else "/"
    return f"{begins}{words}{but}{'/' if folder else '/' + chr(92) + 'Z'}"
