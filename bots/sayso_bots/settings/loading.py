"""Which platforms there are: those that are installed, and those that the settings name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any

from sayso.chats.places import Place
from sayso.platforms.platform import Platform
from sayso.text.secrets import Hiding, hiding, holds_secret
from sayso_bots.settings.modules import FIX, PASTED, UNLOADABLE, told
from sayso_bots.settings.source import Source

GROUP = "sayso.platforms"
VALUE = "PLATFORM"
SETTING = "platforms"


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
        """What has the look of a secret of any of them."""
        return sum(map(hiding_of, self), Hiding())

    def know_as_secret(self, text: str) -> bool:
        """Whether a text holds what any of them, or anybody, knows as a secret."""
        secrets = (secret for platform in self for secret in platform.secrets)
        return holds_secret(text) or any(secret.is_in(text) for secret in secrets)

    def has_account(self, actor: str) -> bool:
        """Whether the platform of an actor could have its account; of others nobody knows."""
        name, _, account = actor.partition(":")
        if (platform := self.by_name.get(name)) is None:
            return True
        try:
            return platform.account(account) == account
        except ValueError:
            return False

    def place(self, written: object) -> Place:
        """A place on one of the platforms.

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
        """The platform of this name; ``also`` are other prefixes that would do.

        Raises:
            ValueError: there is none; the message says which there are.
        """
        if name in self.by_name:
            return self.by_name[name]
        if name in self.broken:
            raise ValueError(f"names the platform {name!r}, which {self.broken[name]}")
        prefixes = alternatives([f"{known}:" for known in (*self.by_name, *also)])
        raise ValueError(f"names the platform {name!r}; write {prefixes}")


def hiding_of(platform: Platform[Any]) -> Hiding:
    """What has the look of one of the platform's secrets.

    Raises:
        ValueError: everything has.
    """
    looks = (secret.looks for secret in platform.secrets)
    return Hiding(shapes=tuple(look for look in looks if look is not None))


def alternatives(words: Sequence[str]) -> str:
    """Words as alternatives: ``a``, ``a or b``, ``a, b or c``."""
    *first, last = words or ("",)
    return f"{', '.join(first)} or {last}" if first else last


def loaded_platforms(source: Source, taken: Sequence[str]) -> Platforms:
    """The installed platforms and those of the setting ``platforms``.

    Names in ``taken`` are sections of the settings already. What cannot be
    loaded is noted in the source where the settings name it. Of two platforms
    with one name there is neither, whichever came first.
    """
    found = _Found(taken)
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            found.add(point.load(), point.module, called=point.name)
        except UNLOADABLE as error:
            found.broken.setdefault(point.name, f"cannot be loaded ({told(error)})")
    written = source.written((SETTING,), [])
    if not isinstance(written, list):
        source.problem((SETTING,), 'must be a list of module names such as ["my_adapter"]')
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
            source.problem((SETTING, number), PASTED)
            source.refused.add((SETTING, number))
        else:
            with hiding(platforms.hiding):
                why = told(failure)
            source.problem(
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
        hiding_of(platform)  # or it would hide everything
        if name not in self.broken:
            self.by_name[name] = platform
