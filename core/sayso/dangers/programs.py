"""The table of programs and what is dangerous about them: ``programs.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.dangers.danger import Danger
from sayso.tables import read_table

_Names = frozenset[str]


def _danger(name: str) -> Danger:
    if name not in Danger.__members__:
        raise ValueError(f"{name!r} is no danger")
    return Danger[name]


class Row(NamedTuple):
    """What makes a program dangerous: words after it, in this order, and one of the options."""

    words: tuple[str, ...]
    options: tuple[str, ...]
    danger: Danger


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Programs:
    """The table, as ``programs.toml`` explains it."""

    shells: _Names
    interpreters: _Names
    fetchers: _Names
    other_host_programs: _Names
    names_host_before_colon: _Names
    runs_packages: _Names
    other_runners: _Names
    destination_last: _Names
    each_a_destination: _Names
    installers: _Names
    host_folders: _Names
    capabilities: _Names
    destination_options: dict[str, tuple[str, ...]]
    rows: dict[Annotated[Danger, BeforeValidator(_danger)], tuple[str, ...]]

    @cached_property
    def names_host(self) -> _Names:
        """Programs whose words name a host."""
        return self.fetchers | self.other_host_programs

    @cached_property
    def run_code(self) -> _Names:
        """Programs that run what they read."""
        return self.shells | self.interpreters

    @cached_property
    def runs_others(self) -> _Names:
        """Programs, and words of the shell, after which another program may be named."""
        return self.run_code | self.other_runners

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Row, ...]]:
        """The rows of each program."""
        found: dict[str, tuple[Row, ...]] = {}
        for danger, rows in self.rows.items():
            for row in rows:
                words, _, options = row.partition("|")
                program, *after = words.split()
                one = Row(tuple(after), tuple(options.split()), danger)
                found[program] = (*found.get(program, ()), one)
        return found


@cache
def programs() -> Programs:
    """Read the table, once."""
    return read_table("sayso.dangers", "programs.toml", Programs)
