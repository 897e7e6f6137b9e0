"""[store], and all the settings of a machine that only asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field, PlainValidator

from sayso.durations import parse_duration
from sayso.errors import StoreUnreachableError
from sayso.platforms.platform import Section
from sayso.policy.server_policy import ServerPolicy
from sayso.stores.audit import KEPT_DECISIONS
from sayso.stores.connect import STORES
from sayso.text.secrets import has_login, without_login
from sayso.worker.routing import Routes
from sayso_bots.config.policies import read_policies
from sayso_bots.config.source import Source, read_source

_MAX_AUDIT = timedelta(days=3_650)
_URL = ("store", "url")


def _parse_keep_audit(value: object) -> timedelta:
    keep = parse_duration(value, longest=_MAX_AUDIT)
    if keep < timedelta(days=1):
        raise ValueError("is too short to look anything up; write at least 1d")
    return keep


class StoreSection(Section):
    """[store]."""

    url: str = Field(default="redis://127.0.0.1:6379/0", repr=False)
    keep_audit: Annotated[timedelta, PlainValidator(_parse_keep_audit)] = KEPT_DECISIONS


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The store of requests; ``name`` is the setting that names it.

    Decisions are in the audit for ``keep_audit``.
    """

    url: str = field(repr=False)
    name: str = "store.url"
    is_default: bool = False
    keep_audit: timedelta = KEPT_DECISIONS

    @property
    def shown(self) -> str:
        """The address without its password."""
        return without_login(self.url)

    def explain_unreachable(self, error: StoreUnreachableError) -> str:
        """Explain that it does not answer: the setting that names it, and what happened."""
        said = f"{self.name}: {str(error).rstrip('.')}"
        if self.is_default:
            said += "; name another one with store.url or SAYSO_STORE_URL"
        return said

    @property
    def is_memory(self) -> bool:
        """True if it serves this process only."""
        return self.url.startswith("memory://")


def read_store(config: str | None, env: Mapping[str, str], store_url: str | None) -> StoreSettings:
    """Read the store alone.

    Raises:
        SettingsError: it is wrong; a line for each problem.
    """
    source = read_source(config, env)
    store = build_store_settings(source, store_url)
    source.check("store")
    return store


def build_store_settings(source: Source, from_argument: str | None = None) -> StoreSettings:
    """Read the store in a source, or take the one that an argument names."""
    if from_argument:
        store = StoreSettings(from_argument, "--store")
    else:
        section = source.read_section(StoreSection, "store") or StoreSection()
        is_default = source.get(_URL) is None
        name = "the default store" if is_default else source.overridden.get(_URL, "store.url")
        store = StoreSettings(name=name, is_default=is_default, **dict(section))
        if name == "store.url" and has_login(store.url):
            text = (
                "holds a password, which must not stand in a file; "
                "set the whole address in SAYSO_STORE_URL"
            )
            source.add_problem(_URL, text)
    if store.url.partition("://")[0] not in STORES or "://" not in store.url:
        where = source.locate(_URL) if store.name == "store.url" else store.name
        fix = "is not the address of a store; write redis://host:6379/0, or memory:// to try out"
        source.problems.append(("store", f"{where} {fix}"))
    return store


@dataclass(frozen=True, slots=True)
class AskSettings:
    """The settings of a machine that only asks."""

    store: StoreSettings
    policies: ServerPolicy
    routes: Routes


def read_ask_settings(
    config: str | None, env: Mapping[str, str], *, store_url: str | None = None
) -> AskSettings:
    """Read the store, the policy and the routes' timeouts; mistakes elsewhere do not matter here.

    Raises:
        SettingsError: the store or the policy is wrong; a line for each problem.
    """
    source = read_source(config, env)
    store, policies = build_store_settings(source, store_url), read_policies(source)
    routes = Routes(())
    if source.data.keys() & {"route", "people"}:
        # Only settings that have routes pay for what reads them.
        from sayso_bots.config.routes import read_timeouts

        routes = read_timeouts(source)
    source.check("store", "policy")
    return AskSettings(store, policies, routes)


def get_route_seconds(routes: Routes, agent: str, tool: str) -> float | None:
    """Return how long the route of a call lets it wait; None where it does not say."""
    for route in routes.routes:
        if fnmatchcase(agent, route.agent) and fnmatchcase(tool, route.tool):
            return route.seconds
    return None
