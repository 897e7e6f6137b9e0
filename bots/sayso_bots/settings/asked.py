"""What whoever only asks reads of the settings: no platforms, no people, no tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sayso.desk.routes import Route, Routes
from sayso.policy.server_policy import ServerPolicy
from sayso_bots.settings.policies import read_policies
from sayso_bots.settings.source import Source, read_source
from sayso_bots.settings.store import StoreSettings, store_of


@dataclass(frozen=True, slots=True)
class AskSettings:
    """What a machine that only asks needs: no tokens, no people."""

    store: StoreSettings
    policies: ServerPolicy
    routes: Routes


def read_ask_settings(
    config: str | None, env: Mapping[str, str], *, store_url: str | None = None
) -> AskSettings:
    """The store, the policy and the routes' timeouts; mistakes elsewhere do not matter here.

    Raises:
        SettingsError: the store or the policy is wrong; a line for each problem.
    """
    source = read_source(config, env)
    store, policies = store_of(source, store_url), read_policies(source)
    routes = _timeouts(source)
    source.check("store", "policy")
    return AskSettings(store, policies, routes)


def _timeouts(source: Source) -> Routes:
    if not source.data.keys() & {"route", "people"}:
        return Routes(())
    # Only settings that have routes pay for what reads them.
    from sayso_bots.settings.routing import read_timeouts

    return read_timeouts(source)


def route_seconds(routes: Routes, agent: str, tool: str) -> float | None:
    """How long the route of a call lets it wait; None where it does not say."""
    route = next((one for one in routes.routes if _takes(one, agent, tool)), None)
    return None if route is None else route.seconds


def _takes(route: Route, agent: str, tool: str) -> bool:
    return fnmatchcase(agent, route.agent) and fnmatchcase(tool, route.tool)
