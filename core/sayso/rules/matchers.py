"""Matchers of arguments by their meaning: a line of a shell, a path, an address.

A value that is not understood never matches. So a matcher allows, and never denies: a denial
that did not understand a call would be silent about it.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from operator import not_
from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.calls import Folder
from sayso.errors import ConfigError
from sayso.rules import paths
from sayso.shell import line_matcher
from sayso.shell.line import Command, Join, Line
from sayso.shell.line_matcher import Words
from sayso.shell.places import Place
from sayso.shell.reader import read

# What is not known here might narrow the fit: it is refused, never ignored.
_CONFIG = ConfigDict(
    alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="forbid"
)
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)+(?=[a-z])(?:{_LABEL})", re.ASCII)
# Nothing between the host and its path: no name, no port. Nothing that programs read differently.
_PAGE = re.compile(r"https://([A-Za-z0-9.-]{1,253})(?:/[!-\[\]-~]*)?", re.ASCII)
# Names that no public address has, but machines at home, in an office or in a cloud.
_INSIDE = frozenset(
    {
        *("localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home"),
        *("lan", "test", "example", "invalid", "onion", "arpa"),
    }
)


_SHELLS = frozenset(f"{folder}{name}" for folder in ("", "/bin/") for name in ("bash", "sh", "zsh"))
_HANDED_ON = frozenset({"-c", "-lc"})
_JOINS = frozenset(get_args(Join))


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class ShellMatcher:
    """A line of a shell whose every part only looks, or begins with one of ``begins``.

    A program with its arguments as a list is such a part as well. Absolute paths may be
    below ``root``. Which beginnings there are is the shell room's to say: never one of a
    program that runs others, and none with options that change what is run.

    With ``same`` it is a line with exactly these commands and what joins them, of whose last
    one only the output may be joined, dropped, or piped to what only looks.

    Raises:
        ConfigError: it says both.
    """

    begins: tuple[tuple[str, ...], ...] = ()
    root: str = ""
    same: Annotated[tuple[Words, ...], Field(exclude_if=not_)] = ()
    kind: Literal["shell"] = "shell"

    def __post_init__(self) -> None:
        if self.same and (self.begins or self.root):
            raise ConfigError("a line has the same commands, or it begins with some: not both")

    def holds(self, value: Any, folder: Folder | None) -> bool:
        """Return True if the value is such a line, for an agent that works in a folder."""
        if self.same:
            return same_for(value, folder) == self.same
        needed = find_needed(value, self.root, folder)
        if needed is None:
            return False
        for one in needed:  # noqa: SIM110 (half the time: every rule of the tool is asked)
            if one not in self.begins:
                return False
        return True


def find_needed(
    value: Any, root: str = "", folder: Folder | None = None
) -> tuple[tuple[str, ...], ...] | None:
    """The beginnings that a line needs, none where it only looks; None where none would do."""
    if (text := _text_of(value)) is not None:
        return _find_needed(text, root, paths.find_place(folder))
    if not _is_program(value):
        return None
    return line_matcher.line_prefixes(
        Line((Command(value[0], tuple(value[1:])),)), root, paths.find_place(folder)
    )


def same_for(value: Any, folder: Folder | None = None) -> tuple[Words, ...] | None:
    """What a line has to have the same; None where only the whole line would do."""
    text = _text_of(value)
    return None if text is None else _same(text, paths.find_place(folder))


def depends_on_branch(value: Any) -> bool:
    """Return True if a push or a pull in a line depends on the branch of an earlier step.

    One that is not understood does so where it has the words for it.
    """
    if (text := _text_of(value)) is not None:
        line = _read(text)
        return line_matcher.may_push(text) if line is None else line_matcher.depends_on_branch(line)
    return _is_program(value) and line_matcher.depends_on_branch(
        Line((Command(value[0], tuple(value[1:])),))
    )


def _text_of(value: Any) -> str | None:
    """The line that is to be read by a shell; None where none is."""
    if isinstance(value, str):
        return value
    if not _is_program(value):
        return None
    if len(value) == 3 and value[0] in _SHELLS and value[1] in _HANDED_ON:
        return str(value[2])
    return None


def _is_program(value: Any) -> bool:
    """Return True if it is a program and its arguments, as a list."""
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(word, str) for word in value)
    )


def said_as_line(same: tuple[Words, ...]) -> str:
    """Commands and what joins them, as they may be written in a shell."""
    return " ".join(words[0] if words[0] in _JOINS else shlex.join(words) for words in same)


# Many rules look at one line, one after the other.
_read = lru_cache(maxsize=4)(read)


@lru_cache(maxsize=8)
def _same(text: str, place: Place) -> tuple[Words, ...] | None:
    line = _read(text)
    return None if line is None else line_matcher.output_head(line, place)


@lru_cache(maxsize=8)
def _find_needed(text: str, root: str, place: Place) -> tuple[tuple[str, ...], ...] | None:
    line = _read(text)
    return None if line is None else line_matcher.line_prefixes(line, root, place)


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class PathMatcher:
    """A path in a folder of a project, at any depth; with ``file`` that file in it alone.

    ``folder`` is told from ``root``, and empty for the whole project. Never what is
    hidden, controls runs or agents, or holds secrets (``paths.is_ordinary``), nothing that
    leaves the folder, and no path that is written in more than one way.

    Raises:
        ConfigError: the root is no folder of a project, or the others are no plain names.
    """

    root: str
    folder: str = ""
    file: str = ""
    kind: Literal["path"] = "path"

    def __post_init__(self) -> None:
        if not paths.is_project(self.root):
            raise ConfigError(f"{self.root!r} is not the folder of a project: write it from /")
        below = paths.inside(self.root, self.place)
        whole = not (self.folder or self.file)
        if "/" in self.file or not (whole or (below and paths.is_ordinary(below))):
            raise ConfigError(
                f"{self.place!r} is not an ordinary folder or file of {self.root}: it leaves it, "
                "is hidden, controls runs or agents, or holds secrets; allow it by a pattern"
            )

    @property
    def place(self) -> str:
        """The folder, or the file, from the root of the file system."""
        return "/".join(part for part in (self.root, self.folder, self.file) if part)

    def holds(self, value: Any, folder: Folder | None) -> bool:
        """Return True if the value is such a path, for an agent that works in a folder.

        Where its files are seen, nothing below the root may be a link.
        """
        if not isinstance(value, str) or folder is None:
            return False
        path, place = paths.absolute(value, folder), self.place
        if path is None or not (path == place if self.file else path.startswith(f"{place}/")):
            return False
        names = paths.inside(self.root, path)
        if names is None or not paths.is_ordinary(names):
            return False
        return not folder.seen or paths.has_no_link(self.root, names)


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class HostMatcher:
    """The address of a page on one host: ``https``, the usual port, nothing before the host.

    The host is the exact one, in lower case as it stands in an address, and has a
    public name: no number, none of a local network.

    Raises:
        ConfigError: it is no such name.
    """

    host: str
    kind: Literal["host"] = "host"

    @field_validator("host")
    @classmethod
    def _has_a_public_name(cls, host: str) -> str:
        if not is_public(host):
            raise ConfigError(f"{host!r} is not the public name of a host, in lower case")
        return host

    def holds(self, value: Any, folder: Folder | None) -> bool:  # noqa: ARG002
        """Return True if the value is the address of a page on the host."""
        return host_of(value) == self.host


def host_of(value: Any) -> str | None:
    """The host of the address of a page, in lower case; None for any other address."""
    found = _PAGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    host = found[1].lower()
    return host if is_public(host) else None


def is_public(host: str) -> bool:
    """Return True if this is the whole name of a host that may be public."""
    return _HOST.fullmatch(host) is not None and host.rpartition(".")[2] not in _INSIDE


Matcher = Annotated[ShellMatcher | PathMatcher | HostMatcher, Field(discriminator="kind")]
"""What an argument may be. The kind tells them apart where they are written."""


def told(fit: Matcher) -> str:
    """A fit in a few words of a command line, for lists."""
    match fit:
        case ShellMatcher(same=(_, *_)):
            return f"{said_as_line(fit.same)} | (only looks)"
        case ShellMatcher(begins):
            return " | ".join(("(only looks)", *(" ".join(words) for words in begins)))
        case PathMatcher():
            return fit.place if fit.file else f"{fit.place}/**"
    return f"https://{fit.host}/"
