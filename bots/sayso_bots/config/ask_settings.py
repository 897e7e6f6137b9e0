"""Settings of a command that asks: no platforms, no people, no tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sayso.policy.server_policy import ServerPolicy
from sayso.worker.routing import Routes
from sayso_bots.config.policies import read_policies
from sayso_bots.config.source import read_source
from sayso_bots.config.store_settings import StoreSettings, build_store_settings


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
