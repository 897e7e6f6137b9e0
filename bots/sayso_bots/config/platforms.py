"""Platforms: which are installed, which the settings name, and what is read for each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any

from sayso.chats.places import Place
from sayso.platforms.bot import Bot
from sayso.platforms.platform import Platform, PlatformSettings, Secret
from sayso.stores.protocols import KeyValueStore
from sayso.text.agents import printable
from sayso.text.secrets import Hiding, hiding, holds_secret
from sayso.worker.routing import Routes
from sayso_bots.config.source import Source

GROUP = "sayso.platforms"
VALUE = "PLATFORM"
SETTING = "platforms"

# A module that leaves the process while it is loaded is broken, too.
UNLOADABLE = (Exception, SystemExit)
FIX = "install it beside the bots, or put its folder into PYTHONPATH"
PASTED = "holds a secret, which must not stand in a file; remove it, and write a module's name"


def describe_error(error: BaseException) -> str:
    """Return what kind of error it is, and its text, as it may be printed."""
    return printable(f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Platforms:
    """The platforms that the settings may speak of, by their names.

    ``broken`` are those that are installed and cannot be loaded, and why.
    """

    by_name: Mapping[str, Platform[Any]]
    broken: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Platform[Any]]:
        return iter(self.by_name.values())

    @property
    def place_example(self) -> str:
        """A place to show in a message."""
        return next((platform.place_example for platform in self), "chat:ops")

    @property
    def account_example(self) -> str:
        """An account to show in a message."""
        return next((platform.account_example for platform in self), "chat:alice")

    @property
    def hiding(self) -> Hiding:
        """The redaction of the secrets of all of them."""
        return sum(map(build_hiding, self), Hiding())

    def know_as_secret(self, text: str) -> bool:
        """Return True if a text holds what any of them, or anybody, knows as a secret."""
        secrets = (secret for platform in self for secret in platform.secrets)
        return holds_secret(text) or any(secret.is_in(text) for secret in secrets)

    def has_account(self, actor: str) -> bool:
        """Return True if the actor's platform could have the account, or is not known."""
        name, _, account = actor.partition(":")
        if (platform := self.by_name.get(name)) is None:
            return True
        try:
            return platform.account(account) == account
        except ValueError:
            return False

    def place(self, written: object) -> Place:
        """Parse a place on one of the platforms.

        Raises:
            ValueError: it is not one; the message says what to write instead.
        """
        try:
            place = Place.parse(str(written))
        except ValueError:
            examples = " or ".join(platform.place_example for platform in self)
            raise ValueError(f"is not a place such as {examples}") from None
        self.named(place.platform).check_place(place)
        return place

    def named(self, name: str, *, also: Sequence[str] = ()) -> Platform[Any]:
        """Return the platform of this name; ``also`` are other prefixes that would do.

        Raises:
            ValueError: there is none; the message says which there are.
        """
        if name in self.by_name:
            return self.by_name[name]
        if name in self.broken:
            raise ValueError(f"names the platform {name!r}, which {self.broken[name]}")
        prefixes = join_alternatives([f"{known}:" for known in (*self.by_name, *also)])
        raise ValueError(f"names the platform {name!r}; write {prefixes}")


def build_hiding(platform: Platform[Any]) -> Hiding:
    """Build the redaction of the platform's secrets.

    Raises:
        ValueError: everything has.
    """
    looks = (secret.looks for secret in platform.secrets)
    return Hiding(shapes=tuple(look for look in looks if look is not None))


def join_alternatives(words: Sequence[str]) -> str:
    """Join words as alternatives: ``a``, ``a or b``, ``a, b or c``."""
    *first, last = words or ("",)
    return f"{', '.join(first)} or {last}" if first else last


def load_platforms(source: Source, taken: Sequence[str]) -> Platforms:
    """Load the installed platforms and those of the setting ``platforms``.

    Names in ``taken`` are sections of the settings already. What cannot be
    loaded is noted in the source where the settings name it. Of two platforms
    with one name there is neither, whichever came first.
    """
    found = _Found(taken)
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            found.add(point.load(), point.module, called=point.name)
        except UNLOADABLE as error:
            found.broken.setdefault(point.name, f"cannot be loaded ({describe_error(error)})")
    written = source.get((SETTING,), [])
    if not isinstance(written, list):
        source.add_problem((SETTING,), 'must be a list of module names such as ["my_adapter"]')
        written = []
    failed: dict[int, BaseException] = {}
    for number, module in enumerate(written):
        try:
            found.add(getattr(importlib.import_module(module), VALUE), module)
        except UNLOADABLE as error:
            failed[number] = error
    platforms = Platforms(found.by_name, found.broken)
    for number, failure in failed.items():
        # Nothing is quoted before all platforms are there: any of them may know it as its secret.
        if platforms.know_as_secret(str(written[number])):
            source.add_problem((SETTING, number), PASTED)
            source.refused.add((SETTING, number))
        else:
            with hiding(platforms.hiding):
                why = describe_error(failure)
            source.add_problem(
                (SETTING, number), f"cannot be loaded ({why}); {FIX}; it exports one {VALUE}"
            )
    return platforms


class _Found:
    """Platforms by their names, and the modules that export them."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.by_name: dict[str, Platform[Any]] = {}
        self.broken: dict[str, str] = {}
        self._taken = taken
        self._exported: dict[str, tuple[Platform[Any], str]] = {}

    def add(self, platform: object, module: str, *, called: str | None = None) -> None:
        """Take what a module exports; ``called`` is what its package calls it.

        Raises:
            TypeError: it is not a platform.
            ValueError: it cannot have its name, or another one has it.
        """
        if not isinstance(platform, Platform):
            raise TypeError(f"{VALUE} is not a sayso.platforms.Platform")
        name = platform.name
        if not (name.isascii() and name.isalpha() and name.islower()):
            raise ValueError(f"a platform's name is a lower-case word, not {name!r}")
        if name in self._taken:
            raise ValueError(f"a platform cannot be called {name!r}")
        if called not in (None, name):
            raise ValueError(f"{module} is the platform {name!r}, its entry point is {called!r}")
        there, by = self._exported.setdefault(name, (platform, module))
        if there is not platform:
            clash = f"is in two modules, {by} and {module}; remove one of them"
            self.by_name.pop(name, None)
            self.broken[name] = clash
            raise ValueError(f"the platform {name!r} {clash}")
        build_hiding(platform)  # or it would hide everything
        if name not in self.broken:
            self.by_name[name] = platform


@dataclass(frozen=True, slots=True)
class Configured:
    """A platform that is on, and what was read for it."""

    platform: Platform[Any]
    settings: PlatformSettings[Any]

    def open(self, key_value: KeyValueStore) -> AbstractAsyncContextManager[Bot]:
        """Open its bot while the block runs; see :meth:`Platform.open`.

        Raises:
            ConfigError: a library is not installed, or the settings make no sense.
        """
        return self.platform.open(self.settings, key_value)


def find_wanted_platforms(source: Source, platforms: Platforms) -> Sequence[Platform[Any]]:
    """Find the platforms that are on: those with a section, and those that are only hinted at.

    A token in the environment is a hint where a route leads to its platform, or
    where nothing else says which platforms are meant: tokens may be left over.
    """
    routes = source.get(("route",), [])
    routed = {
        str(place).partition(":")[0]
        for route in (routes if isinstance(routes, list) else ())
        for places in [route.get("to") if isinstance(route, dict) else None]
        for place in (places if isinstance(places, list) else ())
    }
    known = set(platforms.by_name)
    nothing_said = not known & (routed | source.sections)
    return [
        platform
        for platform in platforms
        if platform.name in source.sections
        or (
            platform.secrets
            and source.value(platform.secrets[0].variable)
            and (nothing_said or platform.name in routed)
        )
    ]


def read_platform(
    source: Source,
    platform: Platform[Any],
    needed: Callable[[Any], Iterable[Secret]],
) -> Configured | None:
    """Read the settings of a platform; None where its section is wrong. Problems are noted."""
    if isinstance(written := source.get((platform.name,)), list):
        text = (
            f"is written [{platform.name}], once: one `sayso serve` serves one workspace or bot of "
            f"{platform.title}; start another one, with settings of its own, for the next"
        )
        source.add_problem((platform.name, len(written) - 1), text)
        return None
    section = source.read_section(platform.section, platform.name)
    given = {
        secret.variable: value
        for secret in platform.secrets
        if (value := source.value(secret.variable))
    }
    missing: Iterable[Secret] = platform.secrets[:1]
    if section is not None:
        section = platform.settled(section, given)
        missing = needed(section)
    texts = [secret.missing for secret in missing if secret.variable not in given]
    texts += [
        text
        for secret in platform.secrets
        for value in secret.values(given.get(secret.variable, ""))
        if (text := secret.problem(value))
    ]
    source.problems.extend((platform.name, text) for text in texts)
    return None if section is None else Configured(platform, PlatformSettings(section, given))


def explain_unrouted(source: Source, platforms: Platforms, routes: Routes) -> Mapping[str, str]:
    """Explain of each platform with its secrets set that no route leads to it."""
    routed = {place.platform for route in routes.routes for place in route.to}
    return {
        platform.name: (
            f"{variable} is set, but no route leads to {platform.title}; add a place such as "
            f"{platform.place_example} to a route, or unset it"
        )
        for platform in platforms
        if platform.name not in routed
        for variable in [secret.variable for secret in platform.secrets][:1]
        if source.value(variable)
    }


def explain_no_platform(platforms: Platforms) -> str:
    """Explain what switches a platform on."""
    ways = [
        f"{way} for {platform.title}" for platform in platforms if (way := _list_needed(platform))
    ]
    several = "; all of them where there are several" if len(ways) > 2 else ", or both"
    if not ways:
        return "no platform is configured; install one"
    how = f"{', '.join(ways)}{several if len(ways) > 1 else ''}"
    return f"no platform is configured; set {how}; docs/setup.md shows each step"


def _list_needed(platform: Platform[Any]) -> str:
    """Name the least that has to be set for a platform; empty where it needs no secret."""
    needed = platform.needed(platform.settled(platform.section(), ()))
    return platform.quick_start or " and ".join(secret.variable for secret in needed)
