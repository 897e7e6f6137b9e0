"""The table of programs and their dangers: ``programs.toml``, and options that need code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from itertools import pairwise
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.dangers.danger import Danger
from sayso.dangers.places import DISK
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


_MODE = re.compile(
    r"(?:[ugoa]*[oa][ugoa]*[+=][rxXst]*w\w*|[ugoa]*[+=][rwxX]*s\w*|[0-7]?[0-7]{2}[2367])"
)
_SET_ID = re.compile(r"[2467][0-7]{3}")
_FROM_ADDRESS = re.compile(r"(?:git\+|https?:|git:|git@|github:|gitlab:|ssh:)|\.git\Z")
_INSTALLS = frozenset(["install", "add", "i"])
_SETTINGS_THAT_RUN = re.compile(r"(?:core\.|alias\.|credential\.|filter\.|diff\.)")
_MOUNTS_ROOT = re.compile(r"(?:^|,)(?:source|src)=/(?:,|\Z|etc)")
_SENDS = frozenset(["-d", "--data", "--data-binary", "--data-raw", "-F", "--form"])
_DESTROYING = re.compile(r"(?:delete|terminate|destroy|remove|deregister|purge)-")


def _dd(arguments: tuple[str, ...]) -> Iterator[Danger]:
    for one in arguments:
        if one.startswith("of=") and DISK.match(one[3:]):
            yield Danger.DISK


def _git(arguments: tuple[str, ...]) -> Iterator[Danger]:
    if "push" in arguments:
        for one in arguments[arguments.index("push") + 1 :]:
            if one.startswith("+"):
                yield Danger.FORCE_PUSH
            elif one.startswith(":"):
                yield Danger.DISCARDS
    if "checkout" in arguments and "--" in arguments:
        yield Danger.DISCARDS
    for before, one in pairwise(arguments):
        if before == "-c" and _SETTINGS_THAT_RUN.match(one):
            yield Danger.HIDDEN_CODE


def _chmod(arguments: tuple[str, ...]) -> Iterator[Danger]:
    for one in arguments:
        wide = one in ("-R", "--recursive") or _MODE.fullmatch(one) or _SET_ID.fullmatch(one)
        if wide:
            yield Danger.PERMISSIONS


def _installer(arguments: tuple[str, ...]) -> Iterator[Danger]:
    installs = not _INSTALLS.isdisjoint(arguments)
    if installs and any(_FROM_ADDRESS.search(one) for one in arguments):
        yield Danger.NETWORK


def _container(arguments: tuple[str, ...]) -> Iterator[Danger]:
    """Options whose value stands behind them, or behind ``=``."""
    words = [*arguments]
    for number, word in enumerate(words):
        option, _, value = word.partition("=")
        value = value or (words[number + 1] if number + 1 < len(words) else "")
        if option in ("-v", "--volume", "--mount"):
            mounted = value.partition(":")[0]
            if mounted in programs().host_folders or "docker.sock" in value:
                yield Danger.PRIVILEGED
            if _MOUNTS_ROOT.search(value):
                yield Danger.PRIVILEGED
        elif option in ("--pid", "--ipc", "--net", "--network", "--userns", "--uts"):
            if value == "host":
                yield Danger.PRIVILEGED
        elif option == "--cap-add":
            if value.upper().removeprefix("CAP_") in programs().capabilities:
                yield Danger.PRIVILEGED
        elif option in ("-u", "--user") and re.match(r"(?:0|root)(?:\Z|:)", value):
            yield Danger.ROOT


def _curl(arguments: tuple[str, ...]) -> Iterator[Danger]:
    for before, one in pairwise(("", *arguments)):
        names_method = before in ("-X", "--request") or one.startswith(("-X", "--request="))
        if names_method and one.upper().endswith("DELETE"):
            yield Danger.DELETES
        sends = before in _SENDS or one.startswith(("-d@", "-F", "--data", "--form"))
        if sends and (one.startswith(("@", "-d@")) or "=@" in one or "=<" in one):
            yield Danger.SENDS_FILES


def _clouds(arguments: tuple[str, ...]) -> Iterator[Danger]:
    if any(_DESTROYING.match(one) for one in arguments[:8]):
        yield Danger.DESTROYS


def _crontab(arguments: tuple[str, ...]) -> Iterator[Danger]:
    if not arguments or not arguments[0].startswith("-"):
        yield Danger.RUNS_LATER


@cache
def special_dangers() -> Mapping[str, Callable[[tuple[str, ...]], Iterator[Danger]]]:
    """The questions about the arguments of a program, by its name."""
    return {
        "dd": _dd,
        "git": _git,
        "chmod": _chmod,
        "curl": _curl,
        "aws": _clouds,
        "crontab": _crontab,
        **dict.fromkeys(("docker", "podman", "nerdctl"), _container),
        **dict.fromkeys(programs().installers, _installer),
    }
