"""The table of programs that only read and print: ``tables/read_only.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.shell.checks import ProgramRow, rows_by_words
from sayso.shell.line import Command
from sayso.shell.options import options
from sayso.tables import read_table

_Names = frozenset[str]
_CONFIG = ConfigDict(extra="forbid")


@pydantic_dataclass(frozen=True, config=_CONFIG)
class ReadOnlyCommand(ProgramRow):
    """The arguments with which a program only reads and prints."""

    most: int | None = None
    orderly: bool = False

    def allows(self, command: Command, arguments: tuple[str, ...]) -> bool:
        """Return True if the command only reads; the arguments are those after a subcommand."""
        if command.patterns and not self._takes_names(arguments):
            return False
        given = options(self.options, self.one_dash).sort_out(arguments, command.patterns)
        if given is None or (self.orderly and given.mixed):
            return False
        count = len(given.operands) + len(given.rest or ())
        enough = self.most is None or count <= self.most
        return enough and self.passes(given)

    def _takes_names(self, arguments: tuple[str, ...]) -> bool:
        # Names of files that match begin as the pattern does: with a plain letter there, none of
        # them is an option. How many there are must not matter, and none may be a script.
        many = self.most is None and not self.check
        return many and all(one[0] not in "*?[" for one in arguments if one)


@pydantic_dataclass(frozen=True, config=_CONFIG)
class ReadOnlyTable:
    """The table, as it explains itself."""

    names: _Names
    files: _Names
    filters: _Names
    say_their_version: _Names
    shared: dict[str, str]
    commands: dict[str, ReadOnlyCommand]

    def __post_init__(self) -> None:
        """Check that each row names lists that are there."""
        rows_by_words(self.commands, self.shared)

    @cached_property
    def with_any_arguments(self) -> _Names:
        """Programs that only read, whatever their arguments."""
        return self.names | self.files | self.filters

    @cached_property
    def by_words(self) -> Mapping[tuple[str, ...], ReadOnlyCommand]:
        """Commands that only read with some arguments, by their first words."""
        return rows_by_words(self.commands, self.shared)


@cache
def read_only_table() -> ReadOnlyTable:
    """Read the table, once."""
    return read_table("sayso.shell", "tables/read_only.toml", ReadOnlyTable)
