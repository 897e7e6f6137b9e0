"""Which platforms are on, and what was read for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from sayso.desk.routes import Routes
from sayso.platforms.bot import Bot
from sayso.platforms.platform import Platform
from sayso.platforms.secret import Secret
from sayso.platforms.section import PlatformSettings
from sayso.stores.ports import Drafts
from sayso_bots.settings.loading import Platforms
from sayso_bots.settings.routing import places_written
from sayso_bots.settings.source import Source


@dataclass(frozen=True, slots=True)
class Configured:
    """A platform that is on, and what was read for it."""

    platform: Platform[Any]
    settings: PlatformSettings[Any]

    def open(self, drafts: Drafts) -> AbstractAsyncContextManager[Bot]:
        """Its bot while the block runs; see :meth:`Platform.open`.

        Raises:
            ConfigError: a library is not installed, or the settings make no sense.
        """
        return self.platform.open(self.settings, drafts)


def wanted_platforms(source: Source, platforms: Platforms) -> Sequence[Platform[Any]]:
    """The platforms that are on: those with a section, and those that are only hinted at.

    A token in the environment is a hint where a route leads to its platform, or
    where nothing else says which platforms are meant: tokens may be left over.
    """
    routed = set(places_written(source))
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
    """What is read for a platform; None where its section is wrong. Problems are noted."""
    if isinstance(written := source.written((platform.name,)), list):
        text = (
            f"is written [{platform.name}], once: one `sayso serve` serves one workspace or bot of "
            f"{platform.title}; start another one, with settings of its own, for the next"
        )
        source.problem((platform.name, len(written) - 1), text)
        return None
    section = source.section(platform.section, platform.name)
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


def unrouted(source: Source, platforms: Platforms, routes: Routes) -> Mapping[str, str]:
    """What to say of each platform that has its secrets set though no route leads to it."""
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


def none_wanted(platforms: Platforms) -> str:
    """What to say where no platform is on."""
    ways = [f"{way} for {platform.title}" for platform in platforms if (way := _least(platform))]
    several = "; all of them where there are several" if len(ways) > 2 else ", or both"
    if not ways:
        return "no platform is configured; install one"
    how = f"{', '.join(ways)}{several if len(ways) > 1 else ''}"
    return f"no platform is configured; set {how}; docs/setup.md shows each step"


def _least(platform: Platform[Any]) -> str:
    """The least that has to be set for a platform; empty where it needs no secret."""
    needed = platform.needed(platform.settled(platform.section(), ()))
    return platform.quick_start or " and ".join(secret.variable for secret in needed)
