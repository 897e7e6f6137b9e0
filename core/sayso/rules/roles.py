"""What the arguments of a tool are for: which are talk, a command line, paths, an address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from sayso.errors import ConfigError


class RoleWords(TypedDict, total=False):
    """How roles are said where a tool is declared; see ``Roles``."""

    talk: Sequence[str]
    command: str
    paths: Sequence[str]
    writes: Sequence[str]
    url: str


@dataclass(frozen=True, slots=True)
class Roles:
    """The names of arguments, by what they are for.

    ``talk`` changes nothing of what the call does: words for people, or how long it may
    take. ``command`` is a line of a POSIX shell, or the list of a program and its
    arguments. ``paths`` are the files that it works on, ``writes`` what it does with them: any
    of it is meant by whoever allows the paths. ``url`` is the page that it fetches.

    Raises:
        ConfigError: one is not a list of names, or an argument has two roles.
    """

    talk: tuple[str, ...] = ()
    command: str = ""
    paths: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    url: str = ""

    def __post_init__(self) -> None:
        lists = {"talk": self.talk, "paths": self.paths, "writes": self.writes}
        for word, names in lists.items():
            if not isinstance(names, tuple) or not all(isinstance(one, str) for one in names):
                raise ConfigError(f"{word} must be a list of the names of arguments")
        named = [*self.names, *self.talk, *self.writes]
        if len(set(named)) < len(named):
            raise ConfigError("an argument has one role: talk, command, paths, writes or url")

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments that a call has if its tool is the one that was meant."""
        return (*self.paths, *filter(None, (self.command, self.url)))


def roles_of(words: RoleWords) -> Roles:
    """The roles that were said.

    Raises:
        ConfigError: as ``Roles``.
    """
    said: dict[str, Any] = {
        word: names if isinstance(names, str) else tuple(names)
        for word, names in dict[str, Any](words).items()
    }
    return Roles(**said)
