"""``/healthz`` and ``/readyz``: is the process alive, and could it do its work now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from sayso.errors import DeliveryError, SaysoError
from sayso.platforms.bot import Bot
from sayso.stores.backend import Backend

_FRESH_SECONDS = 5.0
_PATIENCE_SECONDS = 3.0


class Health:
    """Answers health checks. Readiness is looked at afresh at most every five seconds."""

    def __init__(
        self,
        backend: Backend,
        bots: Mapping[str, Bot],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._looks: dict[str, Callable[[], Awaitable[object]]] = {"store": backend.leases.ping}
        self._looks |= {name: bot.introduce for name, bot in bots.items()}
        self._clock = clock
        self._looked_at = float("-inf")
        self._problems: Mapping[str, str] = {}
        self._looking = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """The two endpoints."""
        return [web.get("/healthz", self._alive), web.get("/readyz", self._ready)]

    async def problems(self) -> Mapping[str, str]:
        """What is not ready and why; empty when everything is."""
        async with self._looking:
            if self._clock() - self._looked_at >= _FRESH_SECONDS:
                found = await asyncio.gather(*(self._look(name) for name in self._looks))
                self._problems = {name: text for name, text in found if text}
                self._looked_at = self._clock()
            return self._problems

    async def _alive(self, _: web.Request) -> web.Response:
        return web.json_response({"alive": True})

    async def _ready(self, _: web.Request) -> web.Response:
        problems = await self.problems()
        body = {"ready": not problems, "problems": dict(problems)}
        return web.json_response(body, status=503 if problems else 200)

    async def _look(self, name: str) -> tuple[str, str]:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._looks[name]()
        except TimeoutError:
            return name, f"no answer within {_PATIENCE_SECONDS:g} s"
        except DeliveryError as error:
            return name, error.reason
        except SaysoError as error:
            return name, str(error)
        return name, ""
