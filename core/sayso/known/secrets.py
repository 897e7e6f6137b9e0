"""Whether a call of a well-known tool that reads may show secrets, by what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sayso.calls import ToolCall
from sayso.known.tools import FINDS, LOOKING, SEARCHES
from sayso.rules.paths import is_shared
from sayso.sensitive.paths import shows_secrets

# What is searched for, and what is left out, is no file.
_NO_FILES = frozenset({"regex", "query", "exclude", "excludePatterns", "description", "prompt"})
_GLOBS = frozenset({"glob", "include", "file_pattern", "paths", "patterns"})
_HOMES = ("~", "$HOME", "${HOME}")
_SYSTEM = ("/proc/", "/etc/", "/run/", "/sys/", "/var/run/")
_SETTINGS = frozenset([".config", ".cache", ".local", "Library"])
_MOST = 500


def may_show_secrets(call: ToolCall) -> bool:
    """Whether a tool that reads files is given a place of secrets, or searches a whole home.

    It opens nothing, so a link is taken for what it is called. With more than 500 values it may.
    """
    does = LOOKING.get(call.name)
    if does is None:
        return False
    for number, (name, value) in enumerate(_texts(call.arguments)):
        if number == _MOST:
            return True
        if name in _NO_FILES or (name == "pattern" and does == SEARCHES):
            continue
        expands = name in _GLOBS and not value.startswith("!")
        if shows_secrets(value, expands=expands):
            return True
        if does in (SEARCHES, FINDS) and _holds_those_of_a_person(value):
            return True
    return False


def _holds_those_of_a_person(path: str) -> bool:
    plain = path.rstrip("/")
    if plain in _HOMES or plain.endswith("..") or is_shared(path) or path.startswith(_SYSTEM):
        return True
    return plain.rpartition("/")[2] in _SETTINGS


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
