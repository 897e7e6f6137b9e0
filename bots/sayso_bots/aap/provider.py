"""The provider: its parts put together, and its endpoints under ``/aap``."""

from __future__ import annotations

from aiohttp import web

from sayso.clock import Clock, utc_now
from sayso.desk.routes import Routes
from sayso.policy.server_policy import ServerPolicy
from sayso.stores.backend import Backend
from sayso_bots.aap.afterwards import Afterwards
from sayso_bots.aap.asking import Asking, Terms
from sayso_bots.aap.credentials import Vault
from sayso_bots.aap.door import Door, Endpoint, nowhere
from sayso_bots.aap.instances import Instances
from sayso_bots.aap.notifier import NoNotifier, Notifier
from sayso_bots.aap.provisioning import Provisioning
from sayso_bots.aap.waiting import Waiting
from sayso_bots.api.polls import Polls
from sayso_bots.settings.aap import AapSettings

BASE = "/aap"


class Provider:
    """The endpoints, and the work beside them."""

    def __init__(
        self,
        settings: AapSettings,
        backend: Backend,
        routes: Routes,
        policy: ServerPolicy,
        *,
        notifier: Notifier | None = None,
        clock: Clock = utc_now,
    ) -> None:
        notifier = notifier or NoNotifier()
        instances = Instances(backend.documents, Vault(settings.secret), clock)
        terms = Terms(policy, routes, settings)
        self._door = Door(settings, instances)
        self._polls = Polls(backend, Waiting(settings.limits.waiting).take)
        self._asking = Asking(backend, self._door, instances, self._polls, terms, clock)
        self._provisioning = Provisioning(backend, self._door, instances, notifier, clock)
        self.afterwards = Afterwards(backend, instances, notifier)

    def end(self) -> None:
        """End all calls that wait: they are answered as things stand."""
        self._polls.end()

    def routes(self) -> list[web.RouteDef]:
        """The endpoints, for a web server."""
        made, asked = f"{BASE}/v1/instances", f"{BASE}/v1/requests"
        asking, provisioning = self._asking, self._provisioning
        known: dict[str, dict[str, Endpoint]] = {
            made: {"POST": provisioning.make},
            f"{made}/{{id}}": {
                "GET": provisioning.show,
                "PATCH": provisioning.change,
                "DELETE": provisioning.delete,
            },
            asked: {"POST": asking.ask},
            f"{asked}/{{id}}": {"GET": asking.show, "DELETE": asking.withdraw},
            f"{asked}/{{id}}/consume": {"POST": asking.consume},
            f"{asked}/{{id}}/outcome": {"POST": asking.report},
        }
        opened, found = self._door.opened, list[web.RouteDef]()
        for path, endpoints in known.items():
            for method, endpoint in endpoints.items():
                more = {"allow_head": False} if method == "GET" else {}
                found.append(web.route(method, path, opened(endpoint), **more))
            found.append(web.route("*", path, opened(self._door.other_methods(list(endpoints)))))
        return [*found, web.route("*", BASE + "{rest:(?:/.*)?}", opened(nowhere))]
