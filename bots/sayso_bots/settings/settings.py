"""The settings: read once, from ``sayso.toml`` and the environment, into one frozen object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sayso.always.terms import GrantOptions
from sayso.desk.routes import Routes
from sayso.platforms.registration import Registration
from sayso.platforms.section import PlatformSettings
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.refusals import Refusals
from sayso.stores.ports import NO_LIMITS, OpenLimits
from sayso.text.secrets import Hiding
from sayso.written.document import SettingsError, unknown
from sayso_bots.settings.api import api_warnings, check_api_approvers, read_api
from sayso_bots.settings.configured import (
    Configured,
    none_wanted,
    read_platform,
    unrouted,
    wanted_platforms,
)
from sayso_bots.settings.languages import LANGUAGE
from sayso_bots.settings.loading import SETTING, Platforms, loaded_platforms
from sayso_bots.settings.policies import read_always, read_policies
from sayso_bots.settings.routing import (
    RouteWarning,
    read_routes,
    route_warnings,
)
from sayso_bots.settings.sections import (
    LimitsSection,
    QuestionsSection,
    SecretsSection,
    ServerSection,
)
from sayso_bots.settings.source import Source, read_source, read_with
from sayso_bots.settings.store import StoreSettings, store_of
from sayso_bots.settings.tokens import ApiSettings

SECTIONS = (
    "store",
    "server",
    SETTING,
    LANGUAGE,
    "people",
    "route",
    "questions",
    "limits",
    "policy",
    "always",
    "secrets",
    "api",
)
"""What may stand at the top of the file, besides the sections of platforms."""


@dataclass(frozen=True, slots=True)
class QuestionSettings:
    """How a no is given, and the modules with kinds of question of one's own.

    Calls of one run that are asked about within ``bundle_window`` of the first of
    them share a card; zero is a card for each. ``limits`` are of how many requests are open.
    """

    refusals: Refusals = field(default_factory=Refusals)
    types: tuple[str, ...] = ()
    bundle_window: timedelta = timedelta(milliseconds=200)
    limits: OpenLimits = NO_LIMITS


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that ``sayso serve`` needs to know. Its repr holds no secret.

    ``unrouted`` says of platforms whose secrets are set that no route leads to them.
    """

    source: str
    store: StoreSettings
    host: str
    port: int
    platforms: Mapping[str, Configured]
    routes: Routes
    policies: ServerPolicy
    always: GrantOptions = field(default_factory=GrantOptions)
    questions: QuestionSettings = field(default_factory=QuestionSettings)
    hiding: Hiding = field(default_factory=Hiding)
    warnings: tuple[RouteWarning, ...] = ()
    unrouted: Mapping[str, str] = field(default_factory=dict)
    api: ApiSettings | None = None
    api_warnings: tuple[str, ...] = ()
    connections_per_source: int | None = None
    reuse_port: bool = False


def read_settings(config: str | None, env: Mapping[str, str]) -> Settings:
    """All settings.

    Raises:
        SettingsError: something is wrong; a line for each problem.
    """
    return settings_of(read_source(config, env))


def settings_of(source: Source) -> Settings:
    """All settings in a source that was read already.

    Raises:
        SettingsError: something is wrong; a line for each problem.
    """
    platforms = loaded_platforms(source, SECTIONS)
    read_with(source, platforms)
    _check_sections(source, platforms)
    store = store_of(source)
    server = _server(source, store)
    wanted = wanted_platforms(source, platforms)
    configured = {
        platform.name: read
        for platform in wanted
        if (read := read_platform(source, platform, platform.needed)) is not None
    }
    if not wanted:
        source.problems.append((SETTING, none_wanted(platforms)))
    routes = read_routes(source, platforms, [platform.name for platform in wanted])
    if not routes.routes and "route" not in {section for section, _ in source.problems}:
        source.problems.append(("route", _no_route(source, platforms)))
    policies, questions, hidden = read_policies(source), _questions(source), _hiding(source)
    api, always = read_api(source), read_always(source)
    check_api_approvers(source, routes, api)
    source.check()
    return Settings(
        source=str(Path(source.name).absolute()) if source.sections else "the environment",
        store=store,
        host=server.host,
        port=server.port,
        platforms=configured,
        routes=routes,
        policies=policies,
        always=always,
        questions=questions,
        hiding=platforms.hiding + hidden,
        warnings=route_warnings(routes, platforms),
        unrouted=unrouted(source, platforms, routes),
        api=api,
        api_warnings=api_warnings(source, api),
        connections_per_source=server.connections_per_source,
        reuse_port=server.reuse_port,
    )


def read_hiding(config: str | None, env: Mapping[str, str]) -> Hiding:
    """What is hidden and shown besides the table of secrets.

    Raises:
        SettingsError: it is wrong; a line for each problem.
    """
    source = read_source(config, env)
    hidden = _hiding(source)
    source.check("secrets")
    return hidden


def read_registration(
    config: str | None, env: Mapping[str, str], name: str | None
) -> tuple[Registration[Any], PlatformSettings[Any]]:
    """The platform to register a webhook with, which need not be mentioned in the file.

    It is the only one that has webhooks to register unless ``name`` says which.

    Raises:
        SettingsError: it is wrong, or there is none; a line for each problem.
    """
    source = read_source(config, env)
    platforms = loaded_platforms(source, SECTIONS)
    read_with(source, platforms)
    able = {platform.name: platform for platform in platforms if platform.registration is not None}
    name = name or (next(iter(able)) if len(able) == 1 else "")
    if name in platforms.broken and name not in able:
        raise SettingsError([f"the platform {name} {platforms.broken[name]}"])
    if name not in able or (registration := able[name].registration) is None:
        known = ", ".join(able) or "none of those that are installed"
        raise SettingsError([f"name a platform that registers webhooks with --platform: {known}"])
    configured = read_platform(source, able[name], lambda _: registration.needed)
    source.check(name)
    if configured is None:
        raise TypeError("without problems there are settings")
    return registration, configured.settings


def _check_sections(source: Source, platforms: Platforms) -> None:
    if SETTING in {section for section, _ in source.problems}:
        source.check()  # what else is wrong cannot be told while a platform is missing
    for name in source.sections & source.data.keys() - {*SECTIONS, *platforms.by_name}:
        source.problem((name,), _unknown_section(name, platforms))


def _unknown_section(name: str, platforms: Platforms) -> str:
    if name in platforms.broken:
        return f"is a platform that {platforms.broken[name]}"
    own = f'; name a platform of your own by its module: {SETTING} = ["my_adapter"]'
    return unknown(name, (*SECTIONS, *platforms.by_name), own)


def _no_route(source: Source, platforms: Platforms) -> str:
    if not source.sections:
        return (
            f"there is no {source.name} with a [[route]] here; name the file with --config, or "
            "write one as in docs/setup.md"
        )
    return (
        f"{source.name} has no [[route]], so nothing could be shown anywhere; add one such as "
        f'[[route]] to = ["{platforms.place_example}"] approvers = ["{platforms.account_example}"]'
    )


def _server(source: Source, store: StoreSettings) -> ServerSection:
    section = source.section(ServerSection, "server") or ServerSection()
    if section.reuse_port and store.is_memory:
        source.problem(
            ("server", "reuse_port"),
            "is for several processes, and memory:// serves one; name a Redis, or leave it out",
        )
    return section


def _questions(source: Source) -> QuestionSettings:
    section = source.section(QuestionsSection, "questions") or QuestionsSection()
    refusals = Refusals(section.reasons, section.reason_wait)
    limits = source.section(LimitsSection, "limits") or LimitsSection()
    most = OpenLimits(limits.open_per_agent, limits.open_per_token)
    return QuestionSettings(refusals, section.types, section.together, most)


def _hiding(source: Source) -> Hiding:
    section = source.section(SecretsSection, "secrets") or SecretsSection()
    return Hiding(section.names, section.shown, section.patterns)
