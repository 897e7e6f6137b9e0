"""The widths that follow from what the arguments of a call are for: a line, paths, an address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sayso.calls import ToolCall
from sayso.digests import arguments_digest
from sayso.known.tools import KnownTool
from sayso.rules import paths
from sayso.rules.declarations import Roles
from sayso.rules.matchers import (
    HostMatcher,
    Matcher,
    PathMatcher,
    ShellMatcher,
    find_needed,
    host_of,
    same_for,
)
from sayso.rules.rule import Rule, Values
from sayso.shell.line_matcher import equivalent_prefixes

_MOST_BEGINNINGS = 4
"""A rule that names more beginnings is not read before it is stored."""


def by_roles(call: ToolCall, roles: Roles, same: Sequence[KnownTool] = ()) -> list[Rule]:
    """Rules to offer for a call, from narrow to wide; each is about it.

    The arguments that have no role are held as they are, and what is written into
    allowed paths may be anything. Of a tool that has several kinds of roles no such rule
    could be said in one sentence. ``same`` are tools that do the same to the same paths:
    the rules are about them, too, where no argument is held as it is.
    """
    kinds = [roles.command != "", roles.paths != (), roles.url != ""]
    if sum(kinds) != 1 or not all(name in call.arguments for name in roles.names):
        return []
    rules = (_rule(call, roles, same, matchers) for matchers in _matchers(call, roles))
    return [rule for rule in rules if rule.matches(call)]


def _matchers(call: ToolCall, roles: Roles) -> Iterator[Mapping[str, Matcher]]:
    if roles.command:
        yield from ({roles.command: fit} for fit in _of_line(call, call.arguments[roles.command]))
    elif roles.url:
        host = host_of(call.arguments[roles.url])
        if host is not None:
            yield {roles.url: HostMatcher(host)}
    else:
        yield from _of_paths(call, roles.paths)


def _of_line(call: ToolCall, value: object) -> Iterator[ShellMatcher]:
    folder = Values(call.arguments, call.folder).runs_in
    root = folder.root if folder is not None else ""
    needed = find_needed(value, root, folder)
    if needed is not None and len(needed) <= _MOST_BEGINNINGS:
        yield ShellMatcher(equivalent_prefixes(tuple(sorted(needed))), root if needed else "")
    elif (same := same_for(value, folder)) is not None:
        yield ShellMatcher(same=same)


def _of_paths(call: ToolCall, names: tuple[str, ...]) -> Iterator[Mapping[str, Matcher]]:
    """The first folder below the root, or a file of the root itself; then the whole project."""
    folder = call.folder
    if folder is None or not paths.is_project(folder.root):
        return
    found = []
    for name in names:
        value = call.arguments[name]
        path = paths.absolute(value, folder) if isinstance(value, str) else None
        below = None if path is None else paths.inside(folder.root, path)
        if below is None:
            return
        found.append(below)
    if not all(map(paths.is_ordinary, found)):
        return
    if {len(below) for below in found} == {1}:
        yield {
            name: PathMatcher(folder.root, file=below[0])
            for name, below in zip(names, found, strict=True)
        }
    elif len({below[0] for below in found}) == 1 and min(map(len, found)) > 1:
        yield {name: PathMatcher(folder.root, found[0][0]) for name in names}
    yield {name: PathMatcher(folder.root) for name in names}


def _rule(
    call: ToolCall, roles: Roles, same: Sequence[KnownTool], matchers: Mapping[str, Matcher]
) -> Rule:
    free = {*roles.talk, *roles.writes}
    beside = {*matchers, *free}
    others = {name: value for name, value in call.arguments.items() if name not in beside}
    also = [] if others else same
    for tool in also:
        free |= {*tool.talk, *tool.writes}
    return Rule(
        call.name,
        matchers=matchers,
        others_digest=arguments_digest(others),
        talk=tuple(sorted(free)),
        also=tuple(tool.name for tool in also),
    )
