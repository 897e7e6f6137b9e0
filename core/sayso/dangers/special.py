"""What options say of single programs, where a row of the table does not suffice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise

from sayso.dangers.danger import Danger
from sayso.dangers.places import DISK
from sayso.dangers.programs import programs

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
    """What to ask about the arguments of a program, by its name."""
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
