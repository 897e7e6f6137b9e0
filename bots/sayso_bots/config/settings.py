"""The settings: read once, from ``sayso.toml`` and the environment, into one frozen object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from sayso.always.terms import GrantOptions
from sayso.durations import parse_duration
from sayso.platforms.platform import PlatformSettings, Registration, Section
from sayso.policy.server_policy import ServerPolicy
from sayso.questions.refusals import LONGEST_WAIT, REASON_LIMIT, Refusals
from sayso.stores.protocols import NO_LIMITS, OpenLimits
from sayso.text.secrets import Hiding
from sayso.toml_file import SettingsError, explain_unknown_key
from sayso.worker.routing import Routes
from sayso_bots.config.api_tokens import (
    ApiSettings,
    check_api_approvers,
    list_api_warnings,
    read_api,
)
from sayso_bots.config.platforms import (
    SETTING,
    Configured,
    Platforms,
    explain_no_platform,
    explain_unrouted,
    find_wanted_platforms,
    load_platforms,
    read_platform,
)
from sayso_bots.config.policies import read_always, read_policies
from sayso_bots.config.routes import LANGUAGE, RouteWarning, list_warnings, read_routes
from sayso_bots.config.source import (
    Duration,
    Flag,
    Source,
    apply_platforms,
    count_up_to,
    read_source,
    refuse_bool,
)
from sayso_bots.config.store_settings import StoreSettings, build_store_settings

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
"""The keys at the top of the file, besides the sections of platforms."""


_MAX_TOGETHER = timedelta(seconds=5)
_MAX_REASONS = 20


def _check_wait(wait: timedelta) -> timedelta:
    if wait > LONGEST_WAIT:
        raise ValueError("is too long for a denial to wait for its reason; write at most 15m")
    return wait


def _parse_window(value: object) -> timedelta:
    if value == "off":
        return timedelta(0)
    try:
        window = parse_duration(value)
    except ValueError as error:
        raise ValueError(f'{error}; or "off", for a card for every call') from None
    if window > _MAX_TOGETHER:
        raise ValueError("is too long: every card waits for it; write at most 5s")
    return window


def _check_reason(text: str) -> str:
    if not 1 <= len(text.strip()) <= REASON_LIMIT:
        raise ValueError(f"is not a reason; write 1 to {REASON_LIMIT:,} characters")
    return text.strip()


def _compile_pattern(value: object) -> re.Pattern[str]:
    try:
        pattern = re.compile(value if isinstance(value, str) else "")
        Hiding(shapes=(pattern,))
    except (re.error, ValueError) as error:
        raise ValueError(f"is not a regular expression that can be used: {error}") from None
    return pattern


class ServerSection(Section):
    """[server]."""

    host: str = "127.0.0.1"
    port: Annotated[int, BeforeValidator(refuse_bool), Field(ge=0, le=65_535)] = 8080
    connections_per_source: Annotated[
        int | None, BeforeValidator(refuse_bool), Field(ge=1, le=1_000_000)
    ] = None
    reuse_port: Flag = False


_Open = Annotated[int, count_up_to(1_000_000, off=True)]


class LimitsSection(Section):
    """[limits]; 0 stands for as many as come."""

    open_per_agent: _Open = 50
    open_per_token: _Open = 200


class QuestionsSection(Section):
    """[questions]: reasons to deny, and modules with kinds of question of one's own.

    Calls of one run that are asked about within ``together`` of the first of them share a card;
    zero is a card for each.
    """

    reasons: Annotated[
        tuple[Annotated[str, AfterValidator(_check_reason)], ...], Field(max_length=_MAX_REASONS)
    ] = ()
    reason_wait: Annotated[Duration, AfterValidator(_check_wait)] = timedelta(seconds=60)
    types: tuple[str, ...] = ()
    together: Annotated[timedelta, BeforeValidator(_parse_window)] = timedelta(milliseconds=200)

    @property
    def refusals(self) -> Refusals:
        """The ways to deny."""
        return Refusals(self.reasons, self.reason_wait)


_Word = Annotated[str, Field(min_length=1, max_length=60)]


class SecretsSection(Section):
    """[secrets]."""

    names: tuple[_Word, ...] = ()
    patterns: tuple[Annotated[re.Pattern[str], PlainValidator(_compile_pattern)], ...] = ()
    shown: tuple[_Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that ``sayso serve`` needs to know. Its repr holds no secret.

    ``limits`` are of how many requests are open. ``unrouted`` says of platforms
    whose secrets are set that no route leads to them.
    """

    source: str
    store: StoreSettings
    server: ServerSection
    platforms: Mapping[str, Configured]
    routes: Routes
    policies: ServerPolicy
    always: GrantOptions = field(default_factory=GrantOptions)
    questions: QuestionsSection = field(default_factory=QuestionsSection)
    limits: OpenLimits = NO_LIMITS
    hiding: Hiding = field(default_factory=Hiding)
    warnings: tuple[RouteWarning, ...] = ()
    unrouted: Mapping[str, str] = field(default_factory=dict)
    api: ApiSettings | None = None
    api_warnings: tuple[str, ...] = ()


def read_settings(config: str | None, env: Mapping[str, str]) -> Settings:
    """Read all settings.

    Raises:
        SettingsError: something is wrong; a line for each problem.
    """
    return build_settings(read_source(config, env))


def build_settings(source: Source) -> Settings:
    """Build the settings of a source that was read already.

    Raises:
        SettingsError: something is wrong; a line for each problem.
    """
    platforms = load_platforms(source, SECTIONS)
    apply_platforms(source, platforms)
    _check_sections(source, platforms)
    store = build_store_settings(source)
    server = _read_server(source, store)
    wanted = find_wanted_platforms(source, platforms)
    configured = {
        platform.name: read
        for platform in wanted
        if (read := read_platform(source, platform, platform.needed)) is not None
    }
    if not wanted:
        source.problems.append((SETTING, explain_no_platform(platforms)))
    routes = read_routes(source, platforms, [platform.name for platform in wanted])
    if not routes.routes and "route" not in {section for section, _ in source.problems}:
        source.problems.append(("route", _explain_no_route(source, platforms)))
    policies, always, api = read_policies(source), read_always(source), read_api(source)
    questions = source.read_section(QuestionsSection, "questions") or QuestionsSection()
    limits = source.read_section(LimitsSection, "limits") or LimitsSection()
    hidden = _build_hiding(source)
    check_api_approvers(source, routes, api)
    source.check()
    return Settings(
        source=str(Path(source.name).absolute()) if source.sections else "the environment",
        store=store,
        server=server,
        platforms=configured,
        routes=routes,
        policies=policies,
        always=always,
        questions=questions,
        limits=OpenLimits(limits.open_per_agent, limits.open_per_token),
        hiding=platforms.hiding + hidden,
        warnings=list_warnings(routes, platforms),
        unrouted=explain_unrouted(source, platforms, routes),
        api=api,
        api_warnings=list_api_warnings(source, api),
    )


def read_hiding(config: str | None, env: Mapping[str, str]) -> Hiding:
    """Read the redaction that the settings add to the table of secrets.

    Raises:
        SettingsError: it is wrong; a line for each problem.
    """
    source = read_source(config, env)
    hidden = _build_hiding(source)
    source.check("secrets")
    return hidden


def read_registration(
    config: str | None, env: Mapping[str, str], name: str | None
) -> tuple[Registration[Any], PlatformSettings[Any]]:
    """Find the platform to register a webhook with, which need not be mentioned in the file.

    It is the only one that has webhooks to register unless ``name`` says which.

    Raises:
        SettingsError: it is wrong, or there is none; a line for each problem.
    """
    source = read_source(config, env)
    platforms = load_platforms(source, SECTIONS)
    apply_platforms(source, platforms)
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
        source.add_problem((name,), _explain_section(name, platforms))


def _explain_section(name: str, platforms: Platforms) -> str:
    if name in platforms.broken:
        return f"is a platform that {platforms.broken[name]}"
    own = f'; name a platform of your own by its module: {SETTING} = ["my_adapter"]'
    return explain_unknown_key(name, (*SECTIONS, *platforms.by_name), own)


def _explain_no_route(source: Source, platforms: Platforms) -> str:
    if not source.sections:
        return (
            f"there is no {source.name} with a [[route]] here; name the file with --config, or "
            "write one as in docs/setup.md"
        )
    return (
        f"{source.name} has no [[route]], so nothing could be shown anywhere; add one such as "
        f'[[route]] to = ["{platforms.place_example}"] approvers = ["{platforms.account_example}"]'
    )


def _read_server(source: Source, store: StoreSettings) -> ServerSection:
    section = source.read_section(ServerSection, "server") or ServerSection()
    if section.reuse_port and store.is_memory:
        source.add_problem(
            ("server", "reuse_port"),
            "is for several processes, and memory:// serves one; name a Redis, or leave it out",
        )
    return section


def _build_hiding(source: Source) -> Hiding:
    section = source.read_section(SecretsSection, "secrets") or SecretsSection()
    return Hiding(section.names, section.shown, section.patterns)
