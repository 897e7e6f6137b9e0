"""The table of well-known tools: ``tools.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.calls import ToolCall
from sayso.rules.declarations import Roles, ToolAnnotations
from sayso.tables import read_table


@pydantic_dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class KnownTool:
    """A tool as others made it: whose it is, and what its arguments are for.

    ``looks`` says what it does at most, where that is to look or to change nothing but what the
    agent knows: with a ``command`` of lines whose every part looks, and where ``only`` names
    arguments, with these and no others, those in ``needs`` among them. ``edits`` says that it
    does nothing but write what one file holds, ``queries`` what it sends to a search engine.
    A name may be here more than once, each time with other arguments.
    """

    name: str
    of: str
    looks: str = ""
    only: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    talk: tuple[str, ...] = ()
    command: str = ""
    paths: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    url: str = ""
    edits: bool = False
    queries: tuple[str, ...] = ()

    @property
    def owners(self) -> frozenset[str]:
        """The agents and servers that have it."""
        return frozenset(self.of.split(", "))

    @property
    def roles(self) -> Roles:
        """What its arguments are for."""
        return Roles(self.talk, self.command, self.paths, self.writes, self.url)


# What tools that look do, where more depends on it.
SEARCHES, FINDS = "searches in files", "finds files by their names"
READS_SEVERAL, FINDS_AND_SEARCHES = "reads several files", "searches for or in files"

_Tools = tuple[KnownTool, ...]


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Catalog:
    """The table, as ``tools.toml`` explains it."""

    looking: _Tools
    shells: _Tools
    writing: _Tools
    talking: _Tools
    fetching: _Tools

    @cached_property
    def tools(self) -> _Tools:
        """All of them."""
        return (*self.looking, *self.shells, *self.writing, *self.talking, *self.fetching)

    @cached_property
    def by_name(self) -> Mapping[str, _Tools]:
        """The tools of each name."""
        found: dict[str, _Tools] = {}
        for tool in self.tools:
            found[tool.name] = (*found.get(tool.name, ()), tool)
        return found

    @cached_property
    def looks(self) -> Mapping[str, str]:
        """The most that tools that read local files do, by their names."""
        return {tool.name: tool.looks for tool in self.looking}


@cache
def catalog() -> Catalog:
    """Read the table, once."""
    return read_table("sayso.known", "tools.toml", Catalog)


_NO_ROLES = Roles()


def known(call: ToolCall) -> KnownTool | None:
    """The well-known tool that is called; None where its arguments say that it is another.

    With those of two of them it is not clear which one it is.
    """
    found = [
        tool
        for tool in catalog().by_name.get(call.name, ())
        if all(name in call.arguments for name in tool.roles.names)
    ]
    return found[0] if len(found) == 1 else None


def sends_queries(name: str, arguments: tuple[str, ...]) -> bool:
    """Return True if these are all that a well-known tool of this name sends to a search engine."""
    return bool(arguments) and any(
        one.queries == arguments for one in catalog().by_name.get(name, ())
    )


def alike(call: ToolCall) -> tuple[KnownTool, ...]:
    """The other tools that edit the path of the call as its own does, for whoever has that one.

    With a tool that several have, only those that all of them have.
    """
    tool = known(call)
    if tool is None or not tool.edits:
        return ()
    return tuple(
        one
        for one in catalog().writing
        if one.edits
        and one.name != tool.name
        and one.paths == tool.paths
        and one.owners >= tool.owners
    )


def roles_in(call: ToolCall, declared: ToolAnnotations | None) -> Roles:
    """What the arguments of a call are for: as its tool declares them, else as is well known."""
    if declared is not None and declared.roles != _NO_ROLES:
        return declared.roles
    tool = known(call)
    return _NO_ROLES if tool is None else tool.roles
