"""Calls of well-known tools that may show secrets, by the places that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sayso.calls import ToolCall
from sayso.known.tools import FINDS, FINDS_AND_SEARCHES, READS_SEVERAL, SEARCHES, catalog
from sayso.rules.paths import find_place
from sayso.shell.places import Place

# What is searched for, and what is left out, is no file.
_NO_FILES = frozenset({"regex", "query", "exclude", "excludePatterns", "description", "prompt"})
_GLOBS = frozenset({"glob", "include", "file_pattern", "paths", "patterns"})
_SEARCHING = (SEARCHES, FINDS, FINDS_AND_SEARCHES)
_MOST = 500


def may_show_secrets(call: ToolCall) -> bool:
    """Return True if a tool reads files at a place of secrets, or searches a whole home.

    It opens nothing, so a link is taken for what it is called. With more than 500 values it may.
    """
    does = catalog().looks.get(call.name)
    if does is None:
        return False
    place = find_place(call.folder)
    if does in _SEARCHING and "path" not in call.arguments and _searches(place, "."):
        return True
    for number, (name, value) in enumerate(_texts(call.arguments)):
        if number == _MOST:
            return True
        if name in _NO_FILES or (name == "pattern" and does == SEARCHES):
            continue
        expands = name in _GLOBS and not value.startswith("!")
        if place.shows_secrets(value, expands=expands):
            return True
        if does in _SEARCHING and _searches(place, value):
            return True
        if does == READS_SEVERAL and _may_be_a_folder_of_them(place, value):
            return True
    return False


def _may_be_a_folder_of_them(place: Place, path: str) -> bool:
    sweeps = place.sweeps(path) and not place.leaves(path)
    return sweeps or path[-1:] == "/" or place.is_wide(path)


def _searches(place: Place, path: str) -> bool:
    return place.is_wide(path) or place.enter(path).is_secret


def _texts(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts in the arguments, each with the name of the argument that it stands in."""
    waiting: list[tuple[str, Any]] = [(str(name), value) for name, value in arguments.items()]
    for count, (name, value) in enumerate(waiting):
        if isinstance(value, str):
            yield name, value
        elif count > _MOST:
            yield name, "/proc/kcore"  # what is not looked at may be anything
            return
        elif isinstance(value, Mapping):
            waiting += [(name, one) for one in value.values()]
        elif isinstance(value, list | tuple):
            waiting += [(name, one) for one in value]
