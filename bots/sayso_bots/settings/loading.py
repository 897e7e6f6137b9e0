"""Which platforms there are: those that are installed, and those that the settings name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any

from sayso.chats.places import Place
from sayso.platforms.platform import Platform
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


def alternatives(words: Sequence[str]) -> str:
    """Words as alternatives: ``a``, ``a or b``, ``a, b or c``."""
    *first, last = words or ("",)
    return f"{', '.join(first)} or {last}" if first else last


def loaded_platforms(source: Source, taken: Sequence[str]) -> Platforms:
    """The installed platforms and those of the setting ``platforms``.

    Names in ``taken`` are sections of the settings already. What cannot be
    loaded is noted in the source where the settings name it.
    """
    found: dict[str, Platform[Any]] = {}
    broken: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            _add(found, point.load(), taken)
        except Exception as error:
            broken[point.name] = f"cannot be loaded ({type(error).__name__}: {error})"
    written = source.written((SETTING,), [])
    if not isinstance(written, list):
        source.problem((SETTING,), 'must be a list of module names such as ["my_adapter"]')
        written = []
    for number, module in enumerate(written):
        try:
            _add(found, getattr(importlib.import_module(module), VALUE), taken)
        except Exception as error:
            source.problem(
                (SETTING, number),
                f"cannot be loaded ({type(error).__name__}: {error}); install it beside the bots, "
                f"or put its folder into PYTHONPATH; it exports one {VALUE}",
            )
    return Platforms(found, broken)


def _add(found: dict[str, Platform[Any]], platform: object, taken: Sequence[str]) -> None:
    if not isinstance(platform, Platform):
        raise TypeError(f"{VALUE} is not a sayso.platforms.Platform")
    if not (platform.name.isascii() and platform.name.isalpha() and platform.name.islower()):
        raise ValueError(f"a platform's name is a lower-case word, not {platform.name!r}")
    if platform.name in taken:
        raise ValueError(f"a platform cannot be called {platform.name!r}")
    if found.setdefault(platform.name, platform) is not platform:
        raise ValueError(f"there is a platform {platform.name!r} already")
